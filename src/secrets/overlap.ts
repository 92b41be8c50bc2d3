import type { KeyObject } from 'node:crypto';
import { type Clock, iso } from '../kernel/clock.js';
import { unsealOrNull } from '../kernel/envelope.js';
import type { Secret } from './secret.js';

interface OldSecret {
  secret: string;
  /** End of the overlap in ISO 8601. */
  until: string;
}

/** The columns of a rotated secret. The previous secrets are sealed together. */
interface Rotated {
  id: string;
  old_secret_sealed: string | null;
  /** End of the last overlap in ISO 8601. */
  old_secret_until: string | null;
}

/** Each secret is bound to the ID of its owner. */
export interface SecretOpener {
  openSecret(id: string, sealed: string): Secret;
}

export interface OverlapDeps extends SecretOpener {
  clock: Clock;
}

export interface RotationDeps extends OverlapDeps {
  sealSecret(id: string, secret: string): string;
}

/** With more rotations during one overlap, the oldest secrets become invalid. */
const MAX_OLD = 4;
/** One line per secret: percent-encoded, then the end of its overlap. */
const LINE = /^(\S+) (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)$/;

/** Valid ones only, newest first. Empty if they are damaged. */
export const previousSecrets = (deps: OverlapDeps, row: Rotated): OldSecret[] => {
  const { id, old_secret_sealed, old_secret_until } = row;
  if (old_secret_sealed === null || old_secret_until === null) return [];
  const text = textIn(deps, id, old_secret_sealed);
  if (text === null) return [];
  return secretsIn(text, old_secret_until).filter(
    ({ until }) => Date.parse(until) > deps.clock.now(),
  );
};

/** Text of another form is a single secret, as earlier versions stored it. */
const secretsIn = (text: string, until: string): OldSecret[] => {
  const lines = text.split('\n').map((line) => LINE.exec(line));
  return lines.every((line) => line !== null)
    ? lines.map(([, secret = '', end = until]) => ({
        secret: decodeURIComponent(secret),
        until: end,
      }))
    : [{ secret: text, until }];
};

/**
 * Returns the columns after the secret `sealed` was replaced. Earlier secrets keep their own overlap.
 * Without an overlap, all of them become invalid.
 */
export const rotatedSecretColumns = (
  deps: RotationDeps,
  row: Rotated,
  { sealed, overlapMinutes }: { sealed: string | null; overlapMinutes: number },
): Pick<Rotated, 'old_secret_sealed' | 'old_secret_until'> => {
  const none = { old_secret_sealed: null, old_secret_until: null };
  if (overlapMinutes === 0) return none;
  const secret = sealed === null ? null : textIn(deps, row.id, sealed);
  const until = iso(deps.clock.now() + overlapMinutes * 60_000);
  const replaced = secret === null ? [] : [{ secret, until }];
  const kept = [...replaced, ...previousSecrets(deps, row)].slice(0, MAX_OLD);
  if (kept.length === 0) return none;
  return {
    old_secret_sealed: deps.sealSecret(row.id, joined(kept)),
    old_secret_until:
      kept
        .map(({ until: end }) => end)
        .sort()
        .at(-1) ?? null,
  };
};

const joined = (secrets: OldSecret[]): string =>
  secrets.map(({ secret, until }) => `${encodeURIComponent(secret)} ${until}`).join('\n');

const textIn = ({ openSecret }: OverlapDeps, id: string, sealed: string): string | null =>
  unsealOrNull(() => openSecret(id, sealed).take((bytes) => bytes.toString()));

/** A secret that verifies; a previous one only until its overlap ends. */
export interface VerifyingKey {
  key: KeyObject;
  /** End of the validity in milliseconds since 1970; null if there is none. */
  until: number | null;
  isOld: boolean;
}
