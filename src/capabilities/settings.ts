import { stat } from 'node:fs/promises';
import type { Clock } from '../kernel/clock.js';
import type { ChosenCatalogue } from './catalogue.js';
import { readWithTimeout } from './readtimeout.js';

interface CheckedSettings {
  /** null: none is configured. */
  catalogue: (() => Promise<ChosenCatalogue>) | null;
  source: string | null;
  clock: Clock;
}

/** A remote catalogue that takes longer is checked later. */
const PATIENCE_MS = 1000;

export const checkSettings = async ({
  catalogue,
  source,
  clock,
}: CheckedSettings): Promise<string[]> => {
  const patience = () => clock.wait(PATIENCE_MS, undefined, { ref: false }).then(() => null);
  const chosen = catalogue && Promise.race([catalogue(), patience()]);
  const [found, folder] = await Promise.all([
    chosen,
    source === null ? null : findSourceFault(source),
  ]);
  return [
    ...(found?.fault ? [`ADJUTANT_CATALOGUE is not used: ${found.fault}`] : []),
    ...(folder === null ? [] : [`ADJUTANT_CAPABILITY_SOURCE: ${folder}`]),
  ];
};

const findSourceFault = async (source: string): Promise<string | null> => {
  const found = await readWithTimeout(source, () => stat(source).catch(() => null), undefined);
  if (found === undefined) return `${source} does not respond. No capability can be installed`;
  if (!found) return `${source} does not exist. No capability can be installed`;
  return found.isDirectory() ? null : `${source} is not a folder. No capability can be installed`;
};
