import { generateKeyPairSync } from 'node:crypto';
import { unsealOrNull } from '../kernel/envelope.js';
import { readFact, writeFact } from '../store/facts.js';
import type { Store } from '../store/store.js';
import type { Keyring } from './keyring.js';
import { PUSH_KEY } from './sealedcolumns.js';

const BOUND = `facts:${PUSH_KEY}`;

/** Identifies this daemon to push services (RFC 8292). P-256, base64url. */
export interface PushKeyPair {
  /** Uncompressed point, 65 bytes. */
  publicKey: string;
  privateKey: string;
}

/** The key pair is created on first use. A damaged one is replaced; browsers must subscribe again. */
export const createPushKey = (store: Store, master: Keyring): (() => Promise<PushKeyPair>) => {
  let key: Promise<PushKeyPair> | null = null;
  const open = async (): Promise<PushKeyPair> => {
    const kept = await readFact(store, PUSH_KEY);
    const sound = kept && unsealOrNull(() => master.unseal(BOUND, kept));
    if (sound) return JSON.parse(sound.toString());
    const made = newKeyPair();
    const sealed = master.seal(BOUND, Buffer.from(JSON.stringify(made)));
    await writeFact(store, PUSH_KEY, sealed).execute();
    return made;
  };
  return () => {
    key ??= open().catch((error) => {
      key = null;
      throw error;
    });
    return key;
  };
};

const newKeyPair = (): PushKeyPair => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { x = '', y = '', d = '' } = privateKey.export({ format: 'jwk' });
  const point = [Buffer.from([4]), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')];
  return { publicKey: Buffer.concat(point).toString('base64url'), privateKey: d };
};
