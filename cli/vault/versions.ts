import { type Credential, type CredentialVersion, contracts } from '../../src/client/index.js';
import { now } from '../clock.js';
import { fieldColumns, shownAs, type TableColumn } from '../columns.js';
import { command } from '../command.js';
import { crud } from '../crud.js';
import { requestFields, requestFrom } from '../fields.js';
import { ago, localTime } from '../times.js';

const endpoints = await contracts.vault();

export const credentialColumns: TableColumn<Credential>[] = [
  { name: 'id', value: (one) => one.id, only: 'data' },
  ...fieldColumns('name', 'type'),
  { name: 'state', value: credentialState, isState: true },
  { name: 'version', value: (one) => one.version },
  { name: 'tools', value: (one) => one.allowedTools.join(' ') },
  { name: 'hosts', value: (one) => one.allowedHosts.join(' ') },
  shownAs('expires', (one) => one.expiresAt, ago, 'never'),
  shownAs('used', (one) => one.lastUsedAt, ago, 'never'),
];

/** A credential is known by its id, the end of that, or its name. */
export const credentialCrud = crud({
  noun: 'credential',
  path: 'vault',
  rows: 'credentials',
  endpoints,
  columns: credentialColumns,
  named: (credential) => credential,
});

/** `due`: for another value. */
export function credentialState({
  expiresAt,
  rotateDueAt,
}: Credential): 'good' | 'due' | 'expired' {
  const isPast = (time: string | null) => time !== null && Date.parse(time) <= now();
  if (isPast(expiresAt)) return 'expired';
  return isPast(rotateDueAt) ? 'due' : 'good';
}

const versionColumns: TableColumn<CredentialVersion>[] = [
  { name: 'version', value: (one) => one.version },
  shownAs('made', (one) => one.createdAt, ago),
  shownAs('good until', (one) => one.validUntil, localTime, 'in use'),
];

export const versions = command({
  name: 'versions',
  args: '<credential>',
  calls: [endpoints.versions],
  examples: ['github-pat', 'github-pat --json', 'github-hook'],
  run: async (context, { args }) => {
    const { client, id } = await credentialCrud.find(context, args.credential);
    const reply = await client.vault.versions({ id });
    context.out.page({ reply, rows: reply.versions, columns: versionColumns });
  },
});

export const credentialRestore = command({
  name: 'restore',
  args: '<credential>',
  calls: [endpoints.restore],
  examples: ['github-pat', 'github-pat --version 2', 'github-pat --overlap-minutes 0'],
  fields: () => requestFields(endpoints.restore.body),
  notes: ['Its value becomes a new version. Which there are: adjutant vault versions'],
  run: async (context, { args, fields }) => {
    const body = await requestFrom(endpoints.restore.body, { fields }, context.at);
    const { client, id } = await credentialCrud.find(context, args.credential);
    const restored = await client.vault.restore({ id, body });
    context.out.done(`Restored as version ${restored.version}.`, restored, credentialColumns);
  },
});
