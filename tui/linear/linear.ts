import type { DeskState } from '../state/deskstate.js';
import type { Announcement } from './announcement.js';
import type { Announcer } from './announcer.js';
import type { LineReader } from './lines.js';
import type { Needs } from './needs.js';
import type { LinearOutput } from './output.js';

export interface Linear {
  known: DeskState;
  needs: Needs;
  announcement: Announcement;
  announcer: Announcer;
  output: LinearOutput;
  lines: LineReader;
  /** Runs a CLI command in this terminal. `null` without a terminal. */
  leave: ((words: readonly string[]) => Promise<void>) | null;
}
