// GETXATTR, SETXATTR, REMOVEXATTR: attributes that the drive itself has. Only for a drive that was asked for them: as long as
// GETXATTR is answered with ENOSYS, the kernel sends none, and `ls -l` and each write cost one request less.

import { constants } from 'node:os'
import type { ExtendedAttributes } from '../../driver.ts'
import { ErrnoError } from '../../../errno-error.ts'
import { errnoNumber } from '../../errno-number.ts'
import { setU32 } from '../fields.ts'
import { opcode } from '../protocol-opcodes.ts'
import { getxattrIn, getxattrOut, setxattrIn } from '../protocol-structs.ts'
import type { Request } from '../request.ts'
import { answerEmpty, operation, readOnly, type Operation } from './operation.ts'

/** Start of the name in SETXATTR: the structure ends before this field, unless the driver asked for the longer one in INIT. */
const setxattrName = setxattrIn.setxattrFlags

/** Flags of setxattr(2). */
const xattrCreate = 1
const xattrReplace = 2

export function attributeOperations(attributes: ExtendedAttributes): ReadonlyMap<number, Operation> {
  const change = (request: Request, name: string, value: string | undefined): Promise<void> =>
    attributes.setAttribute(request.nodeid, name, { value, signal: request.signal })
  return new Map([
    [opcode.getxattr, getxattr(attributes)],
    [
      opcode.setxattr,
      operation({
        call(_operations, request) {
          const value = request.data(request.nameAfter(setxattrName), request.u32(setxattrIn.size))
          const name = request.knownName(setxattrName)
          checkFlags(request.u32(setxattrIn.flags), attributes.attribute(request.nodeid, name))
          return change(request, name, Buffer.from(value).toString())
        },
        answer: answerEmpty,
      }),
    ],
    [
      opcode.removexattr,
      operation({
        call: (_operations, request) => change(request, request.knownName(0), undefined),
        answer: answerEmpty,
      }),
    ],
  ])
}

/** Throws EEXIST or ENODATA: XATTR_CREATE only makes an attribute, XATTR_REPLACE only changes one. */
function checkFlags(flags: number, found: ReturnType<ExtendedAttributes['attribute']>): void {
  if ((flags & xattrCreate) !== 0 && 'value' in found)
    throw new ErrnoError('EEXIST', 'it has this attribute already')
  if ((flags & xattrReplace) !== 0 && 'errno' in found && found.errno === 'ENODATA')
    throw new ErrnoError('ENODATA', 'it does not have this attribute')
}

function getxattr(attributes: ExtendedAttributes): Operation {
  return operation({
    isReadOnly: readOnly,
    call: (_operations, request) => ({
      found: attributes.attribute(request.nodeid, request.knownName(getxattrIn.sizeOf)),
      size: request.u32(getxattrIn.size),
    }),
    answer(reply, { found, size }) {
      if ('errno' in found) return reply.error(errnoNumber(found.errno))
      const value = Buffer.from(found.value)
      if (size >= value.length) return reply.chunks([value])
      if (size > 0) return reply.error(constants.errno.ERANGE)
      setU32(reply.body, getxattrOut.size, value.length)
      return reply.struct(getxattrOut.sizeOf)
    },
  })
}
