import { contracts, type Hook } from '../../src/client/index.js';
import { command, textFlag } from '../command.js';
import type { Context } from '../context.js';
import { requestFields, requestFrom } from '../fields.js';
import { safe } from '../text.js';
import { publicAddress } from './address.js';
import { hookTableColumns } from './columns.js';
import { type Guided, guideHook } from './guide.js';
import { sampleFrom } from './samples.js';
import { type NewSecret, newHookSecret } from './secret.js';
import { senderFormOf, senderOf, trials, wordOf } from './settings.js';

const { create } = await contracts.hooks();

export const SECRET = 'triggerConfig.webhookSecret';
/** Fields that are secrets, which no flag takes. */
export const secretFields = [SECRET, 'triggerConfig.webhookCredentialId'];

export const hookCreate = command({
  name: 'create',
  calls: [create],
  summary: `${create.summary}; on a terminal it asks for all it needs`,
  examples: [
    '',
    '--name github-issues --trigger webhook --webhook-path github-issues' +
      " --action spawn_agent --agent-prompt 'Triage this issue.' > secret.txt",
    '--data @hook.json --secret-file secret.txt',
  ],
  fields: () => requestFields(create.body, secretFields),
  takesData: true,
  flags: {
    secretFile: textFlag('<file|->', 'A secret of your own; else one is made and shown once'),
  },
  notes: [
    'A secret that was made goes to stdout alone, so that > file keeps it; --json adds it to ' +
      'the reply as "secret".',
  ],
  seeAlso: 'adjutant hooks settings, adjutant help webhooks',
  run: async (context, { flags, fields, data }) => {
    const isBare = Object.keys(fields).length === 0 && data === undefined;
    const guided = isBare && context.ask.isPossible ? await guideHook(context) : undefined;
    const meant = guided?.fields ?? fields;
    const draft = await requestFrom(create.body, { fields: meant, data }, context.at);
    const isWebhook = draft.trigger === 'webhook';
    const isSecretGiven = draft.triggerConfig?.webhookSecret !== undefined;
    const secret =
      isWebhook && !isSecretGiven && guided?.sender !== 'stripe'
        ? await newHookSecret(context, flags.secretFile)
        : undefined;
    const triggerConfig = {
      ...draft.triggerConfig,
      ...(secret && { webhookSecret: secret.value }),
    };
    const client = await context.client();
    const hook = await client.hooks.create({ body: { ...draft, triggerConfig } });
    await present(context, hook, { secret, guided });
  },
});

interface CreatedHookParts {
  secret?: NewSecret;
  guided?: Guided;
}

const present = async (
  context: Context,
  hook: Hook,
  { secret, guided }: CreatedHookParts,
): Promise<void> => {
  const { out, url } = context;
  const shown = secret?.isMade ? secret.value : undefined;
  if (out.format === 'json') {
    out.json({ ...hook, ...(shown && { secret: shown }) });
    return;
  }
  out.note(`Created ${safe(hook.name)}, ${hook.enabled ? 'enabled' : 'disabled'}.`);
  if (hook.trigger === 'webhook') await paste(context, hook, { secret, guided });
  if (shown) {
    out.note('');
    out.note('The secret, shown this once. Keep it in a file that only you can read:');
    out.line(shown);
  } else if (out.format !== 'table') {
    out.item(hook, hookTableColumns);
  }
  out.note('');
  out.note(`Watch: adjutant hooks listen ${wordOf(hook)}`);
  if (hook.trigger !== 'webhook') return;
  const sample = sampleFrom(guided?.sender ?? senderOf(hook));
  const sampled = `adjutant hooks send ${wordOf(hook)} --sample ${sample}`;
  for (const line of sample ? [sampled] : trials(url, hook)) out.note(`Try:   ${line}`);
};

const paste = async (
  context: Context,
  hook: Hook,
  { secret, guided }: CreatedHookParts,
): Promise<void> => {
  const { out } = context;
  const sender = guided?.sender ?? senderOf(hook);
  const place = secret?.isMade ? 'below, shown this once' : 'the one that you gave';
  const address = await publicAddress(context);
  const { where, facts, notes } = senderFormOf(sender, address, hook, place);
  out.note('');
  out.note(`Paste into ${where}`);
  const width = Math.max(...facts.map(([name]) => name.length));
  for (const [name, value] of facts) out.note(`  ${name.padEnd(width)}  ${value}`);
  for (const note of notes) out.note(note);
};
