import type { KeyObject } from 'node:crypto';
import { type Clock, iso } from '../kernel/clock.js';
import { unlessShut } from '../kernel/envelope.js';
import type { Secret } from './secret.js';

/** A replaced secret that is still valid. */
interface OldSecret {
  secret: string;
  /** The end of the overlap in ISO 8601. */
  until: string;
}

/** The columns of an object with a rotated secret. Its old secrets are sealed together. */
interface Rotated {
  id: string;
  old_secret_sealed: string | null;
  /** The time when the last old secret ends, in ISO 8601. */
  old_secret_until: string | null;
}

/** Opens the secrets of one kind, each bound to what it belongs to. */
export interface SecretOpener {
  openSecret(id: string, sealed: string): Secret;
}

export interface OverlapDeps extends SecretOpener {
  clock: Clock;
}

export interface RotationDeps extends OverlapDeps {
  sealSecret(id: string, secret: string): string;
}

/**
 * Ours: the most old secrets. With more rotations in one overlap the oldest secrets become invalid.
 */
const MOST = 4;
/** One line: the secret, percent-encoded, and the end of its overlap. */
const LINE = /^(\S+) (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)$/;

/** Returns the old secrets that are valid now, the newest first; none if they were damaged. */
export const oldSecretsOf = (deps: OverlapDeps, row: Rotated): OldSecret[] => {
  const { id, old_secret_sealed, old_secret_until } = row;
  if (old_secret_sealed === null || old_secret_until === null) return [];
  const text = textIn(deps, id, old_secret_sealed);
  if (text === null) return [];
  return secretsIn(text, old_secret_until).filter(
    ({ until }) => Date.parse(until) > deps.clock.now(),
  );
};

/** Parses the old secrets. A text of another form is one secret: earlier versions kept only one. */
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
 * Returns the columns of the old secrets after the current secret, `sealed`, is replaced. It joins
 * the older ones, which keep the overlap that they were given. Without an overlap all old secrets
 * become invalid.
 */
export const rotated = (
  deps: RotationDeps,
  row: Rotated,
  { sealed, overlapMinutes }: { sealed: string | null; overlapMinutes: number },
): Pick<Rotated, 'old_secret_sealed' | 'old_secret_until'> => {
  const none = { old_secret_sealed: null, old_secret_until: null };
  if (overlapMinutes === 0) return none;
  const secret = sealed === null ? null : textIn(deps, row.id, sealed);
  const until = iso(deps.clock.now() + overlapMinutes * 60_000);
  const replaced = secret === null ? [] : [{ secret, until }];
  const kept = [...replaced, ...oldSecretsOf(deps, row)].slice(0, MOST);
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
  unlessShut(() => openSecret(id, sealed).take((bytes) => bytes.toString()));

/** A secret that is valid for verifying now; an old one only until its overlap ends. */
export interface VerifyingKey {
  key: KeyObject;
  /**
   * The end of its validity in milliseconds since 1970; null if it is valid until it is changed.
   */
  until: number | null;
  isOld: boolean;
}
