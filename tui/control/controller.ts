import type { DeskState } from '../state/deskstate.js';
import type { Terminal } from '../terminal.js';

export interface Controller
  extends Pick<DeskState, 'client' | 'store' | 'feed' | 'clock' | 'logIn' | 'tryNow'> {
  outside: ControllerEffects;
  /** `null` if no login is stored. */
  keptName: string | null;
}

export interface ControllerEffects
  extends Pick<Terminal, 'copy' | 'leave' | 'write' | 'print' | 'suspend'> {
  redraw(): void;
  quit(): void;
}
