// The suite at a plain folder: proves that what it asks of docmount is what POSIX gives.

import { openOracle } from '../support/open-oracle.ts'
import { operations } from './operations.ts'
import { programs } from './programs.ts'
import { behave } from './topic.ts'

behave('oracle', openOracle, { ...operations, ...programs })
