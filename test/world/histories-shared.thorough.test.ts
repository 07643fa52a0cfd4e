// All simulated worlds that failed once, of a drive beside another client, those of 15,000 steps among them.

import { replayAll } from './histories.ts'

replayAll(true)
