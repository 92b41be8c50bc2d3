import { ApiError } from '../../src/client/errors.js';
import { type Capability, contracts, type Operation } from '../../src/client/index.js';
import { type Context, command } from '../command.js';
import { failed } from '../exit.js';
import { requestFields, requestFrom } from '../fields.js';
import { sizeText } from '../operations/bar.js';
import { noWait, showBegun, untilOver } from '../operations/follow.js';
import { oneLine, safe } from '../text.js';

const endpoints = await contracts.capabilities();

/** The fields of a request, as they were typed. */
type TypedInstall = Parameters<typeof requestFrom>[1]['fields'];

/** Finds what is to be installed in the list; undefined for what is in no catalogue. */
const listed = async (context: Context, id: string): Promise<Capability | undefined> => {
  const client = await context.client();
  const { capabilities } = await client.capabilities.list({});
  return capabilities.find((each) => each.id === id || each.id.startsWith(`${id}:`));
};

/** Says what will be fetched, and under which licence. */
const announce = ({ out }: Context, found: Capability): void => {
  const { install } = found;
  if (!install) return;
  const size = install.bytes === null ? 'size not known' : sizeText(install.bytes);
  const licence = install.licence === null ? 'licence not known' : safe(install.licence);
  out.note(`${safe(found.name)}: ${size}, ${licence}`);
  out.note(`From ${safe(install.source)}`);
};

/** The message with which the daemon asks for the agreement to a licence. */
const isLicenceAsked = (error: unknown): error is ApiError =>
  error instanceof ApiError &&
  error.statusCode === 400 &&
  (error.details ?? []).some(({ path }) => path === 'acceptLicence');

/** Begins an installation; on a terminal it asks for the agreement to a licence. */
export const beginInstall = async (context: Context, fields: TypedInstall): Promise<Operation> => {
  const client = await context.client();
  const body = await requestFrom(endpoints.install.body, { fields }, context.at);
  try {
    return await client.capabilities.install({ body });
  } catch (error) {
    if (!isLicenceAsked(error) || !context.ask.isPossible) throw error;
    context.out.note(oneLine(error.message));
    const question = { ask: 'Have you read it, and do you agree?', instead: '--accept-licence' };
    if (!(await context.ask.agree(question, false))) throw failed('Nothing was done.');
    return client.capabilities.install({ body: { ...body, acceptLicence: true } });
  }
};

export const installCommand = command({
  name: 'install',
  args: '<id>',
  calls: [endpoints.install, endpoints.list],
  examples: [
    'gguf:qwen3-4b --use-case chat',
    'llama',
    'ollama:qwen3:4b --no-wait',
    'tesseract:ita',
    `gguf:house --url https://models.example.org/house.gguf --sha256 ${'0f'.repeat(32)}`,
  ],
  fields: () => requestFields(endpoints.install.body, ['id']),
  flags: { noWait },
  notes: [
    'With --use-case it is registered as a model; what it needs is installed first.',
    'What there is: adjutant capabilities list. What fits: adjutant models recommend',
  ],
  run: async (context, { args, fields: typed, flags }) => {
    const found = typed.url === undefined ? await listed(context, args.id) : undefined;
    if (found) announce(context, found);
    const begun = await beginInstall(context, { ...typed, id: args.id });
    await showBegun(context, begun, flags);
  },
});

/** Follows an installation, and returns the name of the model that was registered. */
export const installedAs = async (context: Context, begun: Operation): Promise<string | null> => {
  const ended = await untilOver(context, begun);
  if (ended.status !== 'completed') {
    throw failed(`Not installed: ${oneLine(ended.error ?? `the operation is ${ended.status}`)}`);
  }
  const { model } = ended.result ?? {};
  return typeof model === 'string' ? model : null;
};
