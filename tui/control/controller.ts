import type { DeskState } from '../state/deskstate.js';
import type { Terminal } from '../terminal.js';

/** The services that keys use besides the state. */
export interface Controller
  extends Pick<DeskState, 'client' | 'store' | 'feed' | 'now' | 'logIn' | 'tryNow'> {
  outside: ControllerEffects;
  /** User name of the stored login; null if no login is stored. */
  keptName: string | null;
}

/** Effects on the terminal and on the process. */
export interface ControllerEffects
  extends Pick<Terminal, 'copy' | 'leave' | 'write' | 'print' | 'suspend'> {
  redraw(): void;
  quit(): void;
}
