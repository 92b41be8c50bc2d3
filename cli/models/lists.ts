import { contracts, type Reply } from '../../src/client/index.js';
import type { TableColumn } from '../columns.js';
import { command, on } from '../command.js';
import { Exit, usageFault } from '../exit.js';
import { requestFields, requestFrom } from '../fields.js';
import { listCommand } from '../list.js';
import { safe } from '../text.js';
import { healthColumns, priceOf } from './columns.js';

const { health, usage: spent } = await contracts.models();
const { known, litellm, ollama } = await contracts.providers();

/** A check sends each model a prompt. */
const CHECK_MS = 120_000;

export const modelHealth = command({
  name: 'health',
  calls: [health],
  examples: ['', '--check', '--check --json'],
  flags: { check: on('Send each model a tiny prompt first (admin)') },
  notes: ['Exit 1 where a model is down.'],
  run: async (context, { flags }) => {
    const client = (await context.client()).with({ timeoutMs: CHECK_MS });
    const reply = await client.models.health({ query: flags.check ? { check: true } : {} });
    const rows = reply.providers;
    if (rows.some(({ status }) => status === 'down')) context.exitCode = Exit.failed;
    context.out.page({ reply, rows, columns: healthColumns });
  },
});

type OfferedModel = Reply<'providers', 'known' | 'ollama'>['models'][number];

const factColumns: TableColumn<OfferedModel>[] = [
  { name: 'model', value: (each) => each.modelId },
  { name: 'context', value: (each) => each.contextWindow, isNumber: true },
  { name: 'output', value: (each) => each.maxOutputTokens, isNumber: true },
  { name: 'price', value: priceOf },
];

export const modelKnown = command({
  name: 'known',
  args: '<provider>',
  calls: [known],
  examples: ['anthropic', 'openai --json', 'google --fields model,price'],
  notes: [
    'Prices in USD for a million tokens, in and out, as they were on the day of asOf (--json).',
  ],
  run: async (context, { args }) => {
    const reply = await (await context.client()).providers.known({ provider: args.provider });
    context.out.page({ reply, rows: reply.models, columns: factColumns });
    if (reply.models.length === 0) context.out.note(`No facts are kept of ${safe(args.provider)}.`);
  },
});

export const availableModels = command({
  name: 'available',
  args: '<ollama|litellm>',
  calls: [ollama, litellm],
  summary: 'What a server offers now',
  examples: ['ollama', 'litellm --base-url http://10.0.0.5:4000', 'ollama --json'],
  fields: () => requestFields(ollama.query),
  notes: ['Exit 1 where the server does not answer.'],
  run: async (context, { args, fields }) => {
    const [provider] = Object.values(args);
    if (provider !== 'ollama' && provider !== 'litellm') {
      throw usageFault(`Only ollama and litellm list what they have (got "${provider}")`);
    }
    const query = await requestFrom(ollama.query, { fields }, context.at);
    const reply = await (await context.client()).providers[provider]({ query });
    if (!reply.available) context.exitCode = Exit.failed;
    context.out.page({ reply, rows: reply.models, columns: factColumns });
    if (reply.error !== null) context.out.note(`Not available: ${safe(reply.error)}`);
  },
});

type UsageRow = Reply<'models', 'usage'>['usage'][number];

const usageColumns: TableColumn<UsageRow>[] = [
  { name: 'of', value: (each) => each.key },
  { name: 'calls', value: (each) => each.calls, isNumber: true },
  { name: 'in', value: (each) => each.inputTokens, isNumber: true },
  { name: 'out', value: (each) => each.outputTokens, isNumber: true },
  {
    name: 'usd',
    value: (each) => each.costUsd,
    show: ({ costUsd }) => costUsd.toFixed(4),
    isNumber: true,
  },
];

export const modelUsage = listCommand({
  endpoint: spent,
  name: 'usage',
  examples: ['', '--by day --since 2026-03-01', '--by hook'],
  rows: 'usage',
  columns: usageColumns,
  next: (rows) => (rows.length === 0 ? 'No model has answered you yet.' : undefined),
});
