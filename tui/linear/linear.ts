import type { Knowledge } from '../state/knowledge.js';
import type { Lines } from './lines.js';
import type { Needs } from './needs.js';
import type { Paper } from './paper.js';
import type { Telling } from './telling.js';
import type { Told } from './told.js';

/** What the words of the desk line by line reach for. */
export interface Linear {
  known: Knowledge;
  needs: Needs;
  told: Told;
  telling: Telling;
  paper: Paper;
  lines: Lines;
  outside: Outside;
}

export interface Outside {
  now(): number;
  /** A command of the CLI in this terminal, until it ends; null: there is no terminal. */
  leave: ((words: readonly string[]) => Promise<void>) | null;
}
