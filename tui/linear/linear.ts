import type { Knowledge } from '../state/knowledge.js';
import type { Announcement } from './announcement.js';
import type { Announcer } from './announcer.js';
import type { LineReader } from './lines.js';
import type { Needs } from './needs.js';
import type { LinearOutput } from './output.js';

/** What the words of the desk line by line reach for. */
export interface Linear {
  known: Knowledge;
  needs: Needs;
  told: Announcement;
  telling: Announcer;
  output: LinearOutput;
  lines: LineReader;
  outside: LinearEffects;
}

export interface LinearEffects {
  now(): number;
  /** A command of the CLI in this terminal, until it ends; null: there is no terminal. */
  leave: ((words: readonly string[]) => Promise<void>) | null;
}
