import { ApiError } from '../../src/client/errors.js';
import { type Capability, contracts, type Operation, type Reply } from '../../src/client/index.js';
import type { Context } from '../command.js';
import { failed } from '../exit.js';
import { requestFrom } from '../fields.js';
import { followOperation } from '../operations/follow.js';
import { oneLine, safe } from '../text.js';

const endpoints = await contracts.capabilities();
const INSTALL = 'capabilities.install';

type TypedInstall = Parameters<typeof requestFrom>[1]['fields'] & { id: string };

/** An installation that was started, or a capability that is already installed. */
type InstallStart =
  | { is: 'begun'; operation: Operation }
  | { is: 'there'; sentence: string; capability: Capability | null };

export const slugFromId = (id: string): string =>
  id
    .replace(/^gguf:/, '')
    .replaceAll(':', '-')
    .toLowerCase();

export const modelUsers = ({ usedBy }: Pick<Capability, 'usedBy'>): string[] =>
  usedBy.filter((user) => user.startsWith('models/')).map((user) => user.slice('models/'.length));

/**
 * Starts an installation, and on a terminal asks for agreement to the licence. An installation
 * that is already running is followed instead.
 */
export const startInstall = async (
  context: Context,
  fields: TypedInstall,
): Promise<InstallStart> => {
  try {
    return { is: 'begun', operation: await sendInstall(context, fields) };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.code === 'installed') return alreadyInstalled(context, error);
    const running =
      error.code === 'installing' ? await findRunningInstall(context, fields.id) : null;
    if (running === null) throw error;
    context.out.note(`${safe(fields.id)} is already being installed. Following its progress.`);
    return { is: 'begun', operation: running };
  }
};

const sendInstall = async (
  context: Context,
  fields: TypedInstall,
): Promise<Reply<'capabilities', 'install'>> => {
  const client = await context.client();
  const body = await requestFrom(endpoints.install.body, { fields }, context.at);
  try {
    return await client.capabilities.install({ body });
  } catch (error) {
    const terms = findLicenceTerms(error);
    if (terms === null || !context.ask.isPossible) throw error;
    context.out.warn(`Terms of the licence: ${oneLine(terms)}`);
    const question = { ask: 'Do you accept these terms?', instead: '--accept-licence' };
    if (!(await context.ask.agree(question, false)))
      throw failed('The licence was not accepted. Nothing was installed.');
    return client.capabilities.install({ body: { ...body, acceptLicence: true } });
  }
};

/** Returns the name and address of the terms to accept, or null if the daemon requires none. */
const findLicenceTerms = (error: unknown): string | null => {
  if (!(error instanceof ApiError) || error.statusCode !== 400) return null;
  const detail = error.details?.find(({ path }) => path === 'acceptLicence');
  return detail ? detail.message.replace(/^must be true[^:]*: /, '') : null;
};

const alreadyInstalled = async (context: Context, refusal: ApiError): Promise<InstallStart> => {
  const slug = refusal.details?.find(({ path }) => path === 'slug')?.message;
  const { capabilities } = await (await context.client()).capabilities.list({});
  const capability = capabilities.find(({ id }) => id === slug) ?? null;
  if (capability === null)
    return { is: 'there', sentence: `${safe(refusal.message)}.`, capability };
  const names = modelUsers(capability).map(safe);
  const as = names.length === 0 ? '' : `, and registered as ${names.join(', ')}`;
  return { is: 'there', sentence: `${safe(capability.id)} is already installed${as}.`, capability };
};

/** Finds a running or queued installation, or null if it has ended. */
const findRunningInstall = async (context: Context, id: string): Promise<Operation | null> => {
  const client = await context.client();
  const slug = slugFromId(id);
  for (const status of ['running', 'queued'] as const) {
    const { operations } = await client.operations.list({ query: { kind: INSTALL, status } });
    const found = operations.find(
      ({ resource }) => resource.id === slug || resource.id.startsWith(`${slug}-`),
    );
    if (found) return found;
  }
  return null;
};

export const followInstall = (context: Context, begun: Operation): Promise<Operation> =>
  followOperation(context, begun, 'Not installed');

export const registeredModel = ({ result }: Operation): string | null =>
  typeof result?.model === 'string' ? result.model : null;
