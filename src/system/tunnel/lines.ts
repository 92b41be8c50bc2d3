import { type Clock, iso } from '../../kernel/clock.js';
import type { TunnelView } from './contract.js';

const KEPT = 200;

/** The newest lines of the tunnel's program, and of the daemon about it. */
export const createLines = (clock: Clock) => {
  let lines: TunnelView['log'] = [];
  let hidden: string | null = null;
  return {
    add: (line: string): void => {
      const shown = hidden === null ? line : line.replaceAll(hidden, '[secret]');
      if (shown.trim() === '') return;
      lines = [...lines.slice(1 - KEPT), { at: iso(clock.now()), line: shown }];
    },
    /** The value is removed from all further lines. */
    hide: (secret: string | null): void => {
      hidden = secret;
    },
    all: () => lines,
  };
};

export type ProcessLines = ReturnType<typeof createLines>;
