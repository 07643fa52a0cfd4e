// The suite through the WebDAV door, with davfs2 as its client.

import { it } from 'vitest'

import { whyNoDavfs2 } from '../support/davfs2.ts'
import { openDavfs2 } from '../support/open-davfs2.ts'
import { operations } from './operations.ts'
import { behave } from './topic.ts'

// Its large documents take davfs2, which copies each whole, as long as all the rest.
const { large: _large, ...topics } = operations
const reason = whyNoDavfs2()
if (reason === undefined) behave('davfs2', openDavfs2(), topics)
else it.skip(`not run: ${reason}`)
