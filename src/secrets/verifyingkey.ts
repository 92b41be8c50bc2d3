import type { KeyObject } from 'node:crypto';

/** A secret that is valid for verifying now; an old one only until its overlap ends. */
export interface VerifyingKey {
  key: KeyObject;
  /**
   * The end of its validity in milliseconds since 1970; null if it is valid until it is changed.
   */
  until: number | null;
  isOld: boolean;
}
