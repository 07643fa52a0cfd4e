// All simulated worlds that failed once, of a drive alone, those of 15,000 steps among them.

import { replayAll } from './histories.ts'

replayAll(false)
