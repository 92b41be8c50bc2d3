import { buildSenderForm, findHookSender, hookArgument } from '../../../cli/hooks/senders/form.js';
import { reachNotes } from '../../../cli/tunnel/reach.js';
import type { Execution, Hook, HookReply } from '../../../src/client/index.js';
import type { ScreenPage } from '../../page.js';
import { orgFacts } from '../../parts/orgs.js';
import { row, type ScreenRow, tonedSpan } from '../../parts/row.js';
import { factRows, inlineValue, jsonRows, textRows } from '../../parts/text.js';
import { durationText } from '../../parts/times.js';
import { listRows } from '../../state/lists.js';
import type { State } from '../../state/state.js';
import { topView } from '../../state/ui.js';
import { findStateTone } from '../../theme.js';
import { detailPage } from '../detail.js';
import { tableFor } from '../list.js';
import { hookActs, hookGist, replayAct, resendReplyAct } from './acts.js';
import { executionColumns, hookState, replyColumns } from './hooks.js';

const SETTINGS = 1;
const REPLIES = 3;

/** Hook of the page on top. On the page of an execution, the hook below it. */
export const shownHook = (state: State): Hook | null => {
  const { page, id, of } = topView(state.ui);
  const { hooks, executions: runs } = state.lists;
  const hookId = page === 'execution' ? (of ?? runs.byId[id ?? '']?.hookId) : id;
  return hooks.byId[hookId ?? ''] ?? null;
};

const executions = tableFor<Execution>({
  noun: 'execution',
  list: 'executions',
  rows: ({ lists }) => listRows(lists.executions),
  item: (run) => ({
    id: run.id,
    name: run.triggerContext.event ?? run.trigger,
    words: `${run.status} ${hookGist(run).slice(0, 1000)}`,
    facts: { status: run.status },
  }),
  columns: executionColumns,
  empty: ['No executions yet.', '  t  run now      ]  settings for the sender'],
});

const replies = tableFor<HookReply>({
  noun: 'reply',
  list: 'replies',
  rows: ({ lists }) => listRows(lists.replies),
  item: (reply) => ({
    id: reply.id,
    name: reply.object ?? reply.preset,
    words: `${reply.status} ${reply.error ?? ''} ${reply.url ?? ''}`,
    facts: { status: reply.status },
  }),
  columns: replyColumns,
  empty: [
    'No replies.',
    '  A reply posts the result of an agent to the issue or ticket of the delivery.',
    '  e  change the hook: the flags that begin with --reply',
  ],
});

const hookFacts = ({ triggerConfig, concurrency, cooldownMs }: Hook): string =>
  [
    triggerConfig.webhookPath && `path ${triggerConfig.webhookPath}`,
    triggerConfig.cron && `cron ${triggerConfig.cron}`,
    triggerConfig.webhookPath &&
      (triggerConfig.webhookSecretSet ? 'secret set' : 'NO SECRET: rejects all'),
    concurrency === null ? null : `concurrency ${concurrency}`,
    cooldownMs > 0 ? `cooldown ${durationText(cooldownMs)}` : null,
  ]
    .filter(Boolean)
    .join('   ');

const hookText = (state: State, hook: Hook, width: number): ScreenRow[] => {
  const { tab, isRaw, isWrapped } = topView(state.ui);
  if (isRaw) return jsonRows(hook, width, isWrapped);
  if (tab === SETTINGS) return senderRows(state, hook, width);
  const { name, description, trigger, triggerConfig, action, actionConfig, ...rest } = hook;
  const within = (config: object): [string, unknown][] =>
    Object.entries(config).map(([key, value]) => [`  ${key}`, value]);
  const facts: [string, unknown][] = [
    ['Name', name],
    ...orgFacts(state, hook),
    ['Description', description],
    ['Trigger', trigger],
    ...within(triggerConfig),
    ['Action', action],
    ...within(actionConfig),
    ['Conditions', rest.conditions.length === 0 ? 'none' : rest.conditions],
    ['Limits', rest.limits ?? 'defaults'],
    ['Id', rest.id],
  ];
  return factRows(
    facts.map(([key, value]) => [key, inlineValue(value)] as const),
    width,
  );
};

/** Same form as `adjutant hooks settings`, without the secret. */
const senderRows = ({ session, overview }: State, hook: Hook, width: number): ScreenRow[] => {
  const { webhookPath, webhookSecretSet } = hook.triggerConfig;
  if (!webhookPath) return [row(`The trigger is ${hook.trigger}: there is no sender to set up.`)];
  const url = overview.known?.publicUrl ?? session.url;
  const notes = overview.known?.publicUrl ? reachNotes(overview.known) : [];
  const secret = webhookSecretSet
    ? 'the one you set; R creates a new one'
    : 'none yet; R creates one';
  const form = buildSenderForm(findHookSender(hook), { url, notes }, hook, secret);
  return [
    ...textRows(form.where, width, true),
    [],
    ...factRows(form.facts, width),
    [],
    ...form.notes.flatMap((note) => textRows(note, width, true)),
    ...factRows(
      [
        ['Manual test', `adjutant hooks send ${hookArgument(hook)}`],
        ['Rejections', `adjutant hooks refused ${hookArgument(hook)}`],
      ],
      width,
    ),
  ];
};

export const hookPage: ScreenPage = {
  ...detailPage<Hook>({
    name: 'hook',
    title: 'Hook',
    noun: 'hook',
    tabs: ['Executions', 'Settings', 'Facts', 'Replies'],
    list: 'hooks',
    shown: shownHook,
    head: (_, hook) => [
      row(
        tonedSpan('strong', hook.name),
        '   ',
        tonedSpan(findStateTone(hookState(hook)), hookState(hook)),
        `   ${hook.trigger} → ${hook.action}`,
      ),
      row(tonedSpan('muted', hookFacts(hook))),
    ],
    text: hookText,
    tables: { 0: executions, [REPLIES]: replies },
  }),
  opens: (state) => {
    const run = topView(state.ui).tab === 0 && executions.chosen(state);
    return run ? { page: 'execution', id: run.id, of: run.hookId } : null;
  },
  acts: (state) => {
    const hook = shownHook(state);
    const run = topView(state.ui).tab === 0 && executions.chosen(state);
    const reply = topView(state.ui).tab === REPLIES && replies.chosen(state);
    const resend = reply && resendReplyAct(reply);
    return {
      ...(hook && hookActs(hook)),
      ...(run && { replay: replayAct(run) }),
      ...(resend && { replay: resend }),
    };
  },
  // Only the CLI shows a new secret. It prints the secret once and does not store it.
  leaves: (state) => {
    const id = shownHook(state)?.id;
    if (id === undefined) return {};
    return { edit: ['hooks', 'update', id], rotate: ['hooks', 'rotate-secret', id] };
  },
  pages: ({ ui }) => (topView(ui).tab === REPLIES ? 'replies' : 'executions'),
  needs: ({ ui }) => [
    { is: 'list', list: 'hooks', everyMs: 15_000 },
    topView(ui).tab === REPLIES
      ? { is: 'list', list: 'replies', of: topView(ui).id, everyMs: 15_000 }
      : { is: 'list', list: 'executions', of: topView(ui).id, everyMs: 5000 },
    { is: 'channel', channel: 'hook.reply' },
    // The public address is part of the sender settings.
    { is: 'overview', everyMs: 15_000 },
  ],
};
