import { contracts, type ModelView } from '../../src/client/index.js';
import { command, type Flag, textFlag } from '../command.js';
import type { Context } from '../context.js';
import { usageFault } from '../exit.js';
import { requestFields, requestFrom } from '../fields.js';
import { secretFrom } from '../input.js';
import { askNeeded } from '../prompt.js';
import { safe } from '../text.js';
import { modelColumns, modelCrud } from './columns.js';

const { create, update } = await contracts.models();

/** Fields without a flag: secrets, and the two halves of a price, which are given as one. */
export const withoutFlags = ['apiKey', 'credentialId', 'price.inputPerMTok', 'price.outputPerMTok'];
/** Providers whose models need a key. */
const SELLERS = ['openai', 'anthropic', 'google', 'openrouter'];

const flags = {
  keyFile: textFlag('<file|->', 'Its API key; on a terminal it is asked for where it is needed'),
  price: {
    value: '<in,out>',
    about: 'USD for a million tokens, or none',
    read: (given): ModelView['price'] => {
      if (given === 'none') return null;
      const [inputPerMTok = Number.NaN, outputPerMTok = Number.NaN, ...more] = given
        .split(',')
        .map((each) => (each.trim() === '' ? Number.NaN : Number(each)));
      if (more.length > 0 || !(inputPerMTok >= 0 && outputPerMTok >= 0)) {
        throw usageFault(`--price is two numbers, as 3,15, or none (got "${given}")`);
      }
      return { inputPerMTok, outputPerMTok };
    },
  } satisfies Flag<ModelView['price']>,
};

export const modelCreate = command({
  name: 'create',
  args: '[name]',
  calls: [create],
  examples: [
    'claude --provider anthropic --model-id claude-sonnet-4-5',
    'qwen --provider ollama --model-id qwen3:8b --topics notes',
    'house --provider openai-compatible --model-id large' +
      ' --base-url http://10.0.0.5:8000/v1 --key-file key.txt --fallbacks qwen',
  ],
  fields: () => requestFields(create.body, withoutFlags),
  takesData: true,
  flags,
  notes: ['Window and price of well-known models are filled in: adjutant models known <provider>'],
  seeAlso: 'adjutant models test, adjutant help models',
  run: async (context, { args, flags: { keyFile, price }, fields: typed, data }) => {
    const given = { ...typed, ...(args.name !== undefined && { name: args.name }) };
    const needed = requestFields(create.body, withoutFlags);
    const fields = { ...given, ...(await askNeeded(context, needed, { fields: given, data })) };
    const more = { price };
    const draft = await requestFrom(create.body, { fields, data, more }, context.at);
    const isAsked = SELLERS.includes(draft.provider) && context.ask.isPossible;
    const isGiven = keyFile !== undefined || (isAsked && draft.apiKey === undefined);
    const key = isGiven ? await keyFrom(context, keyFile) : draft.apiKey;
    const client = await context.client();
    const model = await client.models.create({ body: { ...draft, ...(key && { apiKey: key }) } });
    const next = `Try it: adjutant models test ${model.name}`;
    context.out.done(`Registered ${safe(model.name)}. ${next}`, model, modelColumns);
  },
});

export const modelUpdate = modelCrud.update({
  examples: [
    'claude --key-file key.txt',
    'qwen --context-window 16384 --no-enabled',
    'house --price 0.5,1.5 --fallbacks qwen,digest',
    'house --edit',
  ],
  notes: ['Another address or provider wants the key anew. --base-url null: the provider’s own.'],
  flags,
  except: withoutFlags,
  secrets: ['apiKey'],
  said: 'Updated',
  body: async (context, { flags: { keyFile, price }, fields, data }) => {
    const apiKey = keyFile === undefined ? undefined : await keyFrom(context, keyFile);
    const given = { ...fields, ...(fields.baseUrl === 'null' && { baseUrl: null }) };
    return requestFrom(update.body, { fields: given, data, more: { apiKey, price } }, context.at);
  },
});

/** From a file, stdin or a hidden answer; never a flag, which others would see in `ps`. */
export const keyFrom = (context: Context, file: string | undefined): Promise<string> =>
  secretFrom(context, file, { ask: 'API key', instead: '--key-file' });
