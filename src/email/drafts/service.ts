import Boom from '@hapi/boom';
import { type Clock, iso } from '../../kernel/clock.js';
import type { Recorder } from '../../kernel/contract/audit.js';
import type { Caller } from '../../kernel/contract/endpoint.js';
import { mint } from '../../kernel/ids.js';
import { orNotFound } from '../../kernel/route.js';
import { UniqueViolation } from '../../store/engine/protocol.js';
import {
  type MailDraftRow,
  type MailMessageRow,
  mailDraftTable,
  type SentMailRow,
} from '../../store/tables/mail.js';
import { updateIf } from '../../store/updateif.js';
import { storedColumns } from '../../store/view.js';
import type { EmailToolCaller } from '../../tools/module.js';
import { findOriginal, replyAddresses, replySubject } from '../sending/reply.js';
import { accountFor, findAttachments, type SendingDeps, sendMail } from '../sending/service.js';
import type { MailDraftChanges, NewMailDraft } from './contract.js';
import { MAX_DRAFTS, type MailDraftsStore } from './queries.js';

export interface MailDraftsDeps {
  clock: Clock;
  drafts: MailDraftsStore;
  sending: SendingDeps;
}

export const findMailDraft = async (
  { drafts }: MailDraftsDeps,
  userId: string,
  id: string,
): Promise<MailDraftRow> => orNotFound(await drafts.get(userId, id), 'E-mail draft not found');

/** Throws 400 for references that the user does not have. */
export const addMailDraft = async (
  deps: MailDraftsDeps,
  by: Caller & Recorder,
  input: NewMailDraft,
): Promise<MailDraftRow> => {
  const row = await buildDraftRow(deps, by.userId, input);
  if (await deps.drafts.insert(row, [by.record({ target: row.id })])) return row;
  throw tooMany();
};

/** Once per effect. */
export const addToolDraft = async (
  deps: MailDraftsDeps,
  { userId, agentId, executionId, effectId }: EmailToolCaller,
  input: NewMailDraft,
): Promise<MailDraftRow> => {
  const { drafts } = deps;
  const isUntrusted = executionId !== null || (await drafts.isUntrusted(agentId));
  const row = {
    ...(await buildDraftRow(deps, userId, input)),
    untrusted: isUntrusted ? 1 : 0,
    effect_id: effectId,
  };
  try {
    if (await drafts.insert(row, [])) return row;
  } catch (error) {
    const made = await drafts.ofEffect(userId, effectId);
    if (error instanceof UniqueViolation && made) return made;
    throw error;
  }
  throw tooMany();
};

const tooMany = (): Boom.Boom =>
  Boom.conflict(`You have the maximum of ${MAX_DRAFTS} drafts. Delete a draft first`, {
    code: 'too_many_drafts',
  });

/** A reply defaults to the subject and the recipient of the original. */
const buildDraftRow = async (
  deps: MailDraftsDeps,
  userId: string,
  input: NewMailDraft,
): Promise<MailDraftRow> => {
  const answered = await findNamed(deps.sending, userId, input);
  const isToNobody = (input.to ?? []).length === 0;
  const to = answered && isToNobody ? replyAddresses(answered) : input.to;
  const now = deps.clock.now();
  return {
    id: mint('maildraft', now),
    user_id: userId,
    account_id: input.accountId ?? null,
    to: JSON.stringify(to ?? []),
    cc: JSON.stringify(input.cc ?? []),
    bcc: JSON.stringify(input.bcc ?? []),
    subject: input.subject ?? (answered ? replySubject(answered) : ''),
    text: input.text ?? '',
    html: input.html ?? null,
    in_reply_to: input.inReplyTo ?? null,
    attachments: JSON.stringify(input.attachments ?? []),
    untrusted: 0,
    created_at: iso(now),
    updated_at: iso(now),
    effect_id: null,
  };
};

const findNamed = async (
  sending: SendingDeps,
  userId: string,
  {
    accountId,
    attachments,
    inReplyTo,
  }: Pick<MailDraftChanges, 'accountId' | 'attachments' | 'inReplyTo'>,
): Promise<MailMessageRow | null> => {
  if (accountId) await accountFor(sending, userId, accountId);
  if (attachments) await findAttachments(sending, userId, attachments);
  return findOriginal(sending.mailbox.messages, userId, inReplyTo);
};

export const updateMailDraft = (
  deps: MailDraftsDeps,
  by: Caller & Recorder,
  { id, given }: { id: string; given: MailDraftChanges },
): Promise<MailDraftRow> =>
  updateIf({
    clock: deps.clock,
    read: async () => {
      const draft = await findMailDraft(deps, by.userId, id);
      await findNamed(deps.sending, by.userId, given);
      return draft;
    },
    write: async (read, version) => {
      const changes = { ...storedColumns(mailDraftTable, given), updated_at: version };
      const isWritten = await deps.drafts.update(read, changes, by.record());
      return isWritten ? { ...read, ...changes } : null;
    },
  });

export const removeMailDraft = async (
  { drafts }: MailDraftsDeps,
  by: Caller & Recorder,
  id: string,
): Promise<void> => {
  const isGone = await drafts.delete(by.userId, id, by.record());
  if (!isGone) throw Boom.notFound('E-mail draft not found');
};

/**
 * The same transaction removes the draft, so it is sent once. Throws 409 if it changed since
 * `seen`.
 */
export const sendMailDraft = async (
  deps: MailDraftsDeps,
  by: Caller & Recorder,
  { id, seen }: { id: string; seen?: string | undefined },
): Promise<SentMailRow> => {
  const draft = await findMailDraft(deps, by.userId, id);
  if (seen !== undefined && seen !== draft.updated_at) {
    throw Boom.conflict(
      'The draft has changed. Nothing was sent. Review the draft and send it again',
    );
  }
  return sendMail(deps.sending, by, {
    to: JSON.parse(draft.to),
    cc: JSON.parse(draft.cc),
    bcc: JSON.parse(draft.bcc),
    subject: draft.subject,
    text: draft.text,
    attachments: JSON.parse(draft.attachments),
    ...(draft.account_id !== null && { accountId: draft.account_id }),
    ...(draft.html !== null && { html: draft.html }),
    ...(draft.in_reply_to !== null && { inReplyTo: draft.in_reply_to }),
    replaces: deps.drafts.removalOf(draft),
  });
};
