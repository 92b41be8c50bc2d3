import { contracts, type ModelView, type Reply } from '../../src/client/index.js';
import { recommendCommand } from '../capabilities/recommend.js';
import { buildColumns, formattedColumn } from '../columns.js';
import { type CommandGroup, type Context, command, switchFlag, textFlag } from '../command.js';
import { crud } from '../crud.js';
import { Exit, usageFault } from '../exit.js';
import { requestFields, requestFrom } from '../fields.js';
import { readSecretInput } from '../input.js';
import { priceFlag } from '../models/price.js';
import { askNeeded, listCommand, requestCommand } from '../request.js';
import { duration, oneLine, safe } from '../text.js';

const endpoints = await contracts.models();
const { known, litellm, ollama } = await contracts.providers();

const formatModelState = ({ enabled, health }: ModelView): string =>
  enabled ? health.status : 'disabled';

const formatTopics = ({ topics, isDefault }: ModelView): string =>
  [...(isDefault ? ['default'] : []), ...topics].join(', ');

/** USD per million tokens, in and out. */
const formatPrice = ({ price }: Pick<ModelView, 'price'>): string =>
  price === null ? '' : `${price.inputPerMTok} / ${price.outputPerMTok}`;

const modelColumns = buildColumns<ModelView>(
  ['name', 'provider'],
  { name: 'state', value: formatModelState, isState: true },
  { ...formattedColumn('latency', ({ health }) => health.latencyMs, duration), isNumber: true },
  { name: 'topics', value: formatTopics },
  { name: 'price', value: formatPrice },
  ['model=modelId', 'address=baseUrl', 'key=apiKeySet:data', 'default=isDefault:data'],
  { name: 'fallbacks', value: ({ fallbacks }) => fallbacks.join(','), only: 'data' },
  ['context=contextWindow:data'],
);

const modelCrud = crud({
  noun: 'model',
  rows: 'models',
  endpoints,
  columns: modelColumns,
  named: ({ name }) => ({ id: name, name }),
  isExact: true,
});

const healthColumns = buildColumns<Reply<'models', 'health'>['providers'][number]>(
  ['model', 'provider', 'state=status:state'],
  { ...formattedColumn('latency', ({ latencyMs }) => latencyMs, duration), isNumber: true },
  ['checked=checkedAt:ago', 'error=lastError'],
);

const modelHealth = requestCommand({
  name: 'health',
  endpoint: endpoints.health,
  examples: ['', '--check', '--check --json', '--org acme'],
  except: ['check'],
  flags: { check: switchFlag('Send each model a short prompt first (admin)') },
  notes: ['Exit code 1: a model is down.'],
  // A check sends each model a prompt.
  more: (_, { flags }) => (flags.check ? { check: true } : {}),
  show: (context, reply) => {
    const rows = reply.providers;
    if (rows.some(({ status }) => status === 'down')) context.exitCode = Exit.failed;
    context.out.page({ reply, rows, columns: healthColumns });
  },
});

type OfferedModel = Reply<'providers', 'known' | 'ollama'>['models'][number];

const factColumns = buildColumns<OfferedModel>(
  ['model=modelId', 'context=contextWindow:number', 'output=maxOutputTokens:number'],
  { name: 'price', value: formatPrice },
);

const LOCAL_MODELS =
  'Models of llama are files on this machine: adjutant capabilities list --kind model --installed';

const modelKnown = requestCommand({
  name: 'known',
  args: '<provider>',
  endpoint: known,
  examples: ['anthropic', 'openai --json', 'google --fields model,price'],
  notes: ['Prices in USD per million tokens, input and output, as of asOf (--json).'],
  at: (_, { provider }) => ({ provider }),
  show: ({ out }, reply, { args: { provider } }) => {
    out.page({ reply, rows: reply.models, columns: factColumns });
    if (reply.models.length === 0)
      out.note(
        `No known models for ${safe(provider)}.${provider === 'llama' ? ` ${LOCAL_MODELS}` : ''}`,
      );
  },
});

/** Servers that list their models, with their default port. */
const SERVERS = { ollama: ['Ollama', 11434], litellm: ['LiteLLM', 4000] } as const;

const availableModels = command({
  name: 'available',
  args: '<ollama|litellm>',
  calls: [ollama, litellm],
  summary: 'List the models that a server offers',
  examples: ['ollama', 'litellm --base-url http://10.0.0.5:4000', 'ollama --json'],
  fields: () => requestFields(ollama.query),
  notes: ['Exit code 1: the server does not reply.'],
  run: async (context, { args, fields }) => {
    const [provider] = Object.values(args);
    if (provider !== 'ollama' && provider !== 'litellm') {
      throw usageFault(
        provider === 'llama'
          ? `Only ollama and litellm list their models. ${LOCAL_MODELS}`
          : `Only ollama and litellm list their models (got "${provider}")`,
      );
    }
    const query = await requestFrom(ollama.query, { fields }, context.at);
    const reply = await (await context.client()).providers[provider]({ query });
    if (!reply.available) context.exitCode = Exit.failed;
    context.out.page({ reply, rows: reply.models, columns: factColumns });
    if (reply.error === null) return;
    const [name, port] = SERVERS[provider];
    const at = safe(query.baseUrl ?? `http://127.0.0.1:${port}`);
    const line = `adjutant models available ${provider} --base-url http://<host>:${port}/v1`;
    context.out.note(`${name} does not reply at ${at}: ${safe(reply.error)}`);
    context.out.note(`Start it, or pass the address of another machine: ${line}`);
  },
});

const modelUsage = listCommand({
  endpoint: endpoints.usage,
  name: 'usage',
  examples: ['', '--by day --since 2026-03-01', '--by hook'],
  rows: 'usage',
  columns: buildColumns<Reply<'models', 'usage'>['usage'][number]>(
    ['of=key', 'calls:number', 'in=inputTokens:number', 'out=outputTokens:number'],
    {
      ...formattedColumn(
        'usd',
        ({ costUsd }) => costUsd,
        (usd) => usd.toFixed(4),
      ),
      isNumber: true,
    },
  ),
  next: (rows) => (rows.length === 0 ? 'No model usage yet.' : undefined),
});

/** Fields without a flag: secrets, and the parts of a price, which one flag sets. */
const withoutFlags = [
  ...['apiKey', 'credentialId'],
  ...['price.inputPerMTok', 'price.outputPerMTok', 'price.perMinuteUsd'],
];
/** Providers that require a key. */
const SELLERS = ['openai', 'anthropic', 'google', 'openrouter'];

const flags = {
  keyFile: textFlag(
    '<file|->',
    'File with the API key. If not set and the provider requires a key, a terminal asks for the key',
  ),
  price: priceFlag,
};

const modelCreate = command({
  name: 'create',
  args: '[name]',
  calls: [endpoints.create],
  examples: [
    'claude --provider anthropic --model-id claude-sonnet-4-5',
    'qwen --provider ollama --model-id qwen3:8b --topics notes',
    'small --provider llama --model-id qwen3-4b-q4_k_m --context-window 16384',
    'house --provider openai-compatible --model-id large' +
      ' --base-url http://10.0.0.5:8000/v1 --key-file key.txt --fallbacks qwen',
  ],
  fields: () => requestFields(endpoints.create.body, withoutFlags),
  takesData: true,
  flags,
  notes: [
    'Context window and price of known models are filled in: adjutant models known ' + '<provider>',
  ],
  seeAlso: 'adjutant models test, adjutant help models',
  run: async (context, { args, flags: { keyFile, price }, fields: typed, data }) => {
    const input = { ...typed, ...(args.name !== undefined && { name: args.name }) };
    const needed = requestFields(endpoints.create.body, withoutFlags);
    const fields = { ...input, ...(await askNeeded(context, needed, { fields: input, data })) };
    const more = { price };
    const draft = await requestFrom(endpoints.create.body, { fields, data, more }, context.at);
    const isAsked = SELLERS.includes(draft.provider) && context.ask.isPossible;
    const isGiven = keyFile !== undefined || (isAsked && draft.apiKey === undefined);
    const key = isGiven ? await keyFrom(context, keyFile) : draft.apiKey;
    const client = await context.client();
    const model = await client.models.create({ body: { ...draft, ...(key && { apiKey: key }) } });
    const next = `Try it: adjutant models test ${model.name}`;
    context.out.done(`Registered ${safe(model.name)}. ${next}`, model, modelColumns);
    const { status, lastError } = model.health;
    if (status === 'down') context.out.warn(`The model cannot answer: ${oneLine(lastError ?? '')}`);
  },
});

const modelUpdate = modelCrud.update({
  examples: [
    'claude --key-file key.txt',
    'qwen --context-window 16384 --no-enabled',
    'house --price 0.5,1.5 --fallbacks qwen,digest',
    'house --edit',
  ],
  notes: [
    'If you change the address or provider, pass the key again. --base-url null: the ' +
      'default address.',
  ],
  flags,
  except: withoutFlags,
  secrets: ['apiKey'],
  message: ({ name }) => `Updated ${safe(name)}.`,
  body: async (context, { flags: { keyFile, price }, fields, data }) => {
    const apiKey = keyFile === undefined ? undefined : await keyFrom(context, keyFile);
    const input = { ...fields, ...(fields.baseUrl === 'null' && { baseUrl: null }) };
    return requestFrom(
      endpoints.update.body,
      { fields: input, data, more: { apiKey, price } },
      context.at,
    );
  },
});

/**
 * From a file, stdin or hidden input. Never the value of a flag, which others would see in `ps`.
 */
export const keyFrom = (context: Context, file: string | undefined): Promise<string> =>
  readSecretInput(context, file, { ask: 'API key', instead: '--key-file' });

const test = command({
  name: 'test',
  args: '[model]',
  calls: [endpoints.check, endpoints.test],
  summary: 'Test a registered or unregistered model',
  examples: [
    'claude',
    '--provider ollama --model-id qwen3:8b',
    '--provider openai --model-id gpt-4.1 --key-file -',
  ],
  fields: () => requestFields(endpoints.test.body, withoutFlags),
  flags: {
    keyFile: textFlag('<file|->', 'File with the API key of a model that is not registered'),
  },
  notes: ['Exit code 1: the model does not reply. Nothing is stored.'],
  run: async (context, { args, flags, fields }) => {
    const client = await context.client();
    const untried = async () => {
      const { keyFile } = flags;
      const more = { apiKey: keyFile === undefined ? undefined : await keyFrom(context, keyFile) };
      const body = await requestFrom(endpoints.test.body, { fields, more }, context.at);
      return client.models.test({ body });
    };
    const { model } = args;
    const reply =
      model === undefined ? await untried() : await client.models.check({ name: model });
    if (!reply.ok) context.exitCode = Exit.failed;
    if (context.out.format !== 'table') return context.out.item(reply, probeColumns);
    const outcome = reply.ok ? `replied "${safe(reply.reply ?? '')}"` : safe(reply.error ?? '');
    context.out.line(`${reply.ok ? 'ok' : 'FAIL'}  ${outcome}, ${reply.latencyMs} ms`);
    if (reply.tested) context.out.line(formatTestParts(reply.tested));
  },
});

type ModelTest = Reply<'models', 'test'>;

const probeColumns = buildColumns<ModelTest>(
  ['ok', 'latency=latencyMs'],
  { name: 'said', value: ({ reply, error }) => reply ?? error },
  { name: 'tested', value: ({ tested = [] }) => tested.join(' ') },
);

const TEST_PARTS = {
  reply: 'reply',
  tool_call: 'tool call',
  conversation: 'second message',
  embedding: 'embedding',
};

const formatTestParts = (tested: NonNullable<ModelTest['tested']>): string => {
  const parts = tested.map((part) => TEST_PARTS[part]).join(', ');
  const isCalled = tested.includes('tool_call') || tested.includes('embedding');
  return `Tested: ${parts}${isCalled ? '' : '. The model called no tool'}`;
};

const NO_MODEL =
  'No language model yet. Install one for this machine: adjutant models recommend --install\n' +
  'Add another one: adjutant models create';

export const modelsGroup: CommandGroup = {
  commands: [
    modelCrud.list({
      examples: ['', '--provider ollama', '--json'],
      next: (rows) => {
        const downModel = rows.find(({ health }) => health.status === 'down');
        if (downModel) {
          return `Find the cause: adjutant models health, then: adjutant models test ${downModel.name}`;
        }
        return rows.length === 1 && rows[0]?.source === 'builtin' ? NO_MODEL : undefined;
      },
      seeAlso: 'adjutant models routing get',
    }),
    modelCrud.get({
      examples: ['claude', 'openai/gpt --json', 'claude --fields modelId,price'],
    }),
    modelCreate,
    modelUpdate,
    modelCrud.delete({
      examples: ['claude', 'claude --yes', 'openai/gpt --yes'],
      ask: ({ name }) => `Delete model ${safe(name)}? Its API key is deleted, too.`,
    }),
    modelCrud.act('default', endpoints.default, {
      examples: ['claude', 'openai/gpt', 'claude --json'],
      message: ({ name }) => `${safe(name)} is the default model.`,
    }),
    test,
    modelHealth,
    modelKnown,
    recommendCommand,
    availableModels,
    modelUsage,
  ],
  notes: [
    'Models by topic: adjutant models routing',
    'Command-line tools as models: adjutant models cli',
  ],
};
