import { type Clock, iso } from '../../kernel/clock.js';

/** A line from the tunnel's program, or from the daemon about it. */
export interface ProcessLine {
  at: string;
  line: string;
}

/** The newest lines of a process, without secrets. */
export interface ProcessLines {
  add(line: string): void;
  /** Sets the value that is removed from all further lines. */
  hide(secret: string | null): void;
  all(): ProcessLine[];
}

const KEPT = 200;

export const createLines = (clock: Clock): ProcessLines => {
  let lines: ProcessLine[] = [];
  let hidden: string | null = null;
  return {
    add: (line) => {
      const shown = hidden === null ? line : line.replaceAll(hidden, '[secret]');
      if (shown.trim() === '') return;
      lines = [...lines.slice(1 - KEPT), { at: iso(clock.now()), line: shown }];
    },
    hide: (secret) => {
      hidden = secret;
    },
    all: () => lines,
  };
};
