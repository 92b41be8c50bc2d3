import type { KeyObject } from 'node:crypto';

/** A secret that verifies now; an old one only until its overlap ends. */
export interface VerifyingKey {
  key: KeyObject;
  /** Milliseconds since 1970; null = until it is changed. */
  until: number | null;
  isOld: boolean;
}
