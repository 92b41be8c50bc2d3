import { mkdirSync, rmSync, statSync, utimesSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const BEAT_MS = 1_000;
/** A lock that was not touched for this long belongs to a killed process. */
const STALE_MS = 10_000;

/**
 * Runs work while holding a folder as the lock, so that concurrent runs wait for each other. The
 * holder touches it every second, which also works between a container and its host, where
 * process ids do not.
 */
export const withLock = async (path, work) => {
  await take(path);
  const beat = setInterval(() => utimesSync(path, new Date(), new Date()), BEAT_MS);
  try {
    return await work();
  } finally {
    clearInterval(beat);
    rmSync(path, { recursive: true, force: true });
  }
};

const take = async (path) => {
  mkdirSync(dirname(path), { recursive: true });
  for (let tries = 0; !made(path); tries++) {
    if (tries === 0) console.error('adjutant: waiting for another installation or build');
    if (ageMs(path) > STALE_MS) rmSync(path, { recursive: true, force: true });
    else await sleep(200);
  }
};

const made = (path) => {
  try {
    mkdirSync(path);
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
};

/** 0 for a lock that was released in the meantime. */
const ageMs = (path) =>
  Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
