import type { DeskState } from '../state/deskstate.js';
import type { Announcement } from './announcement.js';
import type { Announcer } from './announcer.js';
import type { LineReader } from './lines.js';
import type { Needs } from './needs.js';
import type { LinearOutput } from './output.js';

/** The services that the words of the line-by-line desk use. */
export interface Linear {
  known: DeskState;
  needs: Needs;
  announcement: Announcement;
  announcer: Announcer;
  output: LinearOutput;
  lines: LineReader;
  /** Runs a command of the CLI in this terminal until the command ends; null without a terminal. */
  leave: ((words: readonly string[]) => Promise<void>) | null;
}
