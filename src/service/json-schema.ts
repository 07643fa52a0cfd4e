// A small builder of JSON Schemas with TypeBox's names: only the ten types that the API needs. Loading TypeBox itself (373
// files) took a sixth of the processor time of a start.

/** A JSON Schema, as Fastify takes it. */
export type Schema = Readonly<Record<string, unknown>>

/** Schemas made by `Optional`. */
const optional = new WeakSet<Schema>()

export const Type = {
  String: (options: Schema = {}): Schema => ({ type: 'string', ...options }),
  Integer: (options: Schema = {}): Schema => ({ type: 'integer', ...options }),
  Boolean: (options: Schema = {}): Schema => ({ type: 'boolean', ...options }),
  Null: (options: Schema = {}): Schema => ({ type: 'null', ...options }),

  Enum: (values: readonly string[]): Schema => ({ type: 'string', enum: [...values] }),

  Literal: (value: string): Schema => ({ type: 'string', const: value }),

  Array: (items: Schema, options: Schema = {}): Schema => ({ type: 'array', items, ...options }),

  Union: (anyOf: readonly Schema[]): Schema => ({ anyOf }),

  /** All properties are required except `Optional` ones; unknown properties are allowed. */
  Object(properties: Readonly<Record<string, Schema>>, options: Schema = {}): Schema {
    const required = Object.keys(properties).filter((name) => !optional.has(properties[name] ?? {}))
    return { type: 'object', ...(required.length > 0 ? { required } : {}), properties, ...options }
  },

  /** The same schema, for a property that may be absent. */
  Optional(schema: Schema): Schema {
    const copy = { ...schema }
    optional.add(copy)
    return copy
  },
}
