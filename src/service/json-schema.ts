// JSON Schemas in short, as TypeBox writes them: the ten words that the wire needs. TypeBox itself is 373 files, which were a
// sixth of what a start of the service took of the processor.

/** A JSON Schema, as Fastify takes it. */
export type Schema = Readonly<Record<string, unknown>>

/** Those that a property may also be without. */
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

  /** All properties are required but those that are `Optional`; others than these are let through. */
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
