// The validator of requests: Ajv, as Fastify's own package sets it up. A schema is compiled when the first request needs it,
// once for all services of the process: compiling all of them at the start took a seventh of its processor time.

import { createRequire } from 'node:module'
import type * as AjvCompilerPackage from '@fastify/ajv-compiler'
import { uuidPattern } from './schemas.ts'

interface Validator {
  (data: unknown): unknown
  errors?: unknown
}

type Compile = (route: { readonly schema: unknown }) => Validator

let compile: Compile | undefined
/** Validators by the JSON text of their schema: each service has schema objects of its own. */
const compiled = new Map<string, Validator>()

/** Compilers for Fastify. Response schemas only document: responses come from typed objects, and are not checked. */
export const schemaController: object = {
  compilersFactory: {
    buildValidator: () => (route: { schema: unknown }) => validatorOf(route.schema),
    buildSerializer: () => () => JSON.stringify,
  },
}

function validatorOf(schema: unknown): Validator {
  const text = JSON.stringify(schema)
  const validator: Validator = (data) => {
    const known = compiled.get(text) ?? compileNow(text, schema)
    const isValid = known(data)
    validator.errors = known.errors
    return isValid
  }
  return validator
}

function compileNow(text: string, schema: unknown): Validator {
  compile ??= loadCompiler()
  const validator = compile({ schema })
  compiled.set(text, validator)
  return validator
}

function loadCompiler(): Compile {
  const { AjvCompiler } = createRequire(import.meta.url)('@fastify/ajv-compiler') as typeof AjvCompilerPackage
  return AjvCompiler()(
    {},
    {
      customOptions: { coerceTypes: false, removeAdditional: false, strict: false },
      onCreate: (ajv) => void ajv.addFormat('uuid', uuidPattern),
    },
  ) as Compile
}
