import { readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { ApiError } from '../../src/client/errors.js';
import type { Client } from '../../src/client/index.js';
import { isHere } from './address.js';
import { type DoctorFinding, failFinding, okCheck, warnCheck } from './findings.js';
import { upAt } from './flags.js';
import { holderOf, type PortHolder, sayHolder } from './port.js';
import { readinessOf } from './readiness.js';

type ServicePart = Awaited<ReturnType<Client['health']['detailed']>>['parts'][number];

/** Checks that the daemon answers, how its parts are, and from where it can be reached. */
export const lookAtService = async (client: Client): Promise<DoctorFinding[]> => {
  const { url } = client;
  const holder = isHere(url) ? holderOf(portOf(url)) : null;
  const readiness = await readinessOf(url);
  if (readiness.is === 'silent') return [notRunning(url, holder)];
  if (readiness.is === 'stranger') return [taken(url, holder)];
  const { parts, version } = await client.health.detailed();
  const answers = okCheck('daemon', `${version} at ${url}${holder ? `, pid ${holder.pid}` : ''}`);
  const ready =
    readiness.is === 'ready'
      ? okCheck('ready', 'it takes work')
      : failFinding('ready', `no: ${readiness.failing.join(', ')}`, 'adjutant logs --last 50');
  const inside = (await lookInside(client)) ?? parts.map(ofPart);
  return [answers, ready, ...inside, ...(await exposure(url, holder))];
};

/** Findings of the daemon itself; null: it tells them to its admins alone. */
const lookInside = async (client: Client): Promise<DoctorFinding[] | null> => {
  try {
    const { findings } = await client.doctor.look();
    return findings.map(({ remedy, ...finding }) => ({ ...finding, ...(remedy && { remedy }) }));
  } catch (error) {
    if (error instanceof ApiError && [401, 403].includes(error.statusCode)) return null;
    throw error;
  }
};

const notRunning = (url: string, holder: PortHolder | null): DoctorFinding =>
  holder === null
    ? failFinding('daemon', `nothing answers at ${url}`, upAt(url))
    : failFinding('daemon', `silent at ${url}, held${sayHolder(holder)}`, 'adjutant restart');

const taken = (url: string, holder: PortHolder | null): DoctorFinding =>
  failFinding(
    'daemon',
    `${url} is taken${sayHolder(holder)}, which is no Adjutant`,
    `free it, or: adjutant up --port ${portOf(url) + 1}`,
  );

const REMEDIES: Record<string, string> = {
  database: 'adjutant logs --last 50   It needs a disk that can be written and is not full',
  queue: 'adjutant logs --last 50   What runs: adjutant agents list --status running',
  disk: 'make room: nothing can be kept otherwise',
  models: 'adjutant models health, then: adjutant models test <model>',
  tunnel: 'adjutant tunnel check, then: adjutant tunnel get',
  confinement: 'install bubblewrap (apt install bubblewrap), then: adjutant restart',
};
const SEVERITY = { ok: 'ok', warn: 'warn', down: 'fail' } as const;

const ofPart = ({ name, status, detail }: ServicePart): DoctorFinding => ({
  name,
  status: SEVERITY[status],
  detail: detail || (status === 'ok' ? 'well' : 'not well; more after: adjutant login'),
  ...(status !== 'ok' && { remedy: REMEDIES[name] ?? 'adjutant logs --last 50' }),
});

/** Tried for real: the daemon is asked at every other address of this machine. */
const exposure = async (url: string, holder: PortHolder | null): Promise<DoctorFinding[]> => {
  if (!isHere(url)) return [];
  const others = addresses().map((host) => `http://${host}:${portOf(url)}`);
  const answers = await Promise.all(others.map(readinessOf));
  const open = others.filter((_, at) => ['ready', 'not_ready'].includes(answers[at]?.is ?? ''));
  const isOpen = holder !== null && settingOf(holder.pid, 'ADJUTANT_REGISTRATION') === 'open';
  return [
    open.length === 0
      ? okCheck('exposure', 'only this machine reaches it')
      : warnCheck(
          'exposure',
          `it answers beyond this machine, without TLS: ${open.join(', ')}`,
          'adjutant restart --host 127.0.0.1   and a proxy with TLS in front',
        ),
    ...(isOpen ? [registrationIsOpen(open.length > 0)] : []),
  ];
};

const registrationIsOpen = (isReached: boolean): DoctorFinding => {
  const make = isReached ? failFinding : warnCheck;
  return make(
    'registration',
    'anybody who reaches it may make an account',
    'unset ADJUTANT_REGISTRATION, then: adjutant restart',
  );
};

const addresses = (): string[] =>
  Object.values(networkInterfaces())
    .flatMap((found) => found ?? [])
    .filter(({ internal, scopeid }) => !internal && !scopeid)
    .map(({ address, family }) => (family === 'IPv6' ? `[${address}]` : address));

/** A setting of a running process of ours, where the system tells. */
const settingOf = (pid: number, name: string): string | undefined => {
  try {
    const settings = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
    return settings.find((each) => each.startsWith(`${name}=`))?.slice(name.length + 1);
  } catch {
    return undefined;
  }
};

const portOf = (url: string): number => Number(new URL(url).port || 80);
