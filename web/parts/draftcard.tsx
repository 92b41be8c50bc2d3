import type { MailDraft } from '../../src/email/drafts/contract.js';
import { pageLink } from '../../src/kernel/pagepath.js';
import { ask, RequestError } from '../state/api.js';
import { useLoad } from '../state/load.js';
import { useAction } from './action.js';
import { Confirm } from './confirm.js';
import { LongText, visibleText } from './json.js';
import { fileSize, subjectText } from './mailtext.js';
import { Failure, UntrustedMark } from './notes.js';
import { Show } from './show.js';
import { Ago } from './time.js';

interface DraftFacts {
  /** Address of the account. `null` if there is none, or it was deleted. */
  from: string | null;
  files: string[];
}

const loadDraftFacts = async (draft: MailDraft, signal: AbortSignal): Promise<DraftFacts> => {
  const { accounts } = await ask('GET', '/api/email/accounts', { query: { limit: 200 } }, signal);
  const [only, second] = accounts;
  const account =
    draft.accountId === null && draft.inReplyTo === null && !second
      ? only
      : accounts.find(({ id }) => id === draft.accountId);
  const files = await Promise.all(draft.attachments.map((id) => fileName(id, signal)));
  return { from: account?.address ?? null, files };
};

const fileName = async (id: string, signal: AbortSignal): Promise<string> => {
  try {
    const document = await ask('GET', '/api/documents/{id}', { id }, signal);
    return `${document.filename} (${fileSize(document)})`;
  } catch (error) {
    if (error instanceof RequestError && error.status === 404) return `${id} (deleted)`;
    throw error;
  }
};

/** The full draft: text, account and attachments are shown before it is sent. */
export const DraftCard = ({ draft, reload }: { draft: MailDraft; reload(): Promise<void> }) => {
  const key = `${draft.id} ${draft.updatedAt}`;
  const facts = useLoad({ key, load: (signal) => loadDraftFacts(draft, signal) });
  return (
    <>
      <p class="line">
        {draft.untrusted && <UntrustedMark />}
        <span class="at">
          <Ago at={draft.updatedAt} />
        </span>
      </p>
      <p>
        <strong>{subjectText(draft)}</strong>
      </p>
      <Show of={facts} what="the account and attachments">
        {(data) => <FullDraft draft={draft} facts={data} reload={reload} />}
      </Show>
    </>
  );
};

const DEFAULT_ACCOUNT_TEXTS = {
  new: 'no account selected yet',
  answer: 'the account of the original e-mail',
};

const listRecipients = ({ to, cc, bcc }: MailDraft): string[] => [...to, ...cc, ...bcc];

const FullDraft = ({
  draft,
  facts: { from, files },
  reload,
}: {
  draft: MailDraft;
  facts: DraftFacts;
  reload(): Promise<void>;
}) => {
  const action = useAction();
  const { id } = draft;
  const all = listRecipients(draft).join(', ');
  const send = async (): Promise<void> => {
    const query = { updatedAt: draft.updatedAt };
    try {
      await ask('POST', '/api/email/drafts/{id}/send', { id, query });
    } finally {
      await reload();
    }
  };
  return (
    <>
      <DraftHead draft={draft} facts={{ from, files }} />
      <LongText text={draft.text} kind="prose" isWhole />
      {action.error && <Failure error={action.error} />}
      {all !== '' && (
        <Confirm
          action={action}
          work={send}
          question={<>Send this draft to {visibleText(all)}, exactly as shown?</>}
          label="Send it"
        >
          Send
        </Confirm>
      )}
    </>
  );
};

const DraftHead = ({ draft, facts: { from, files } }: { draft: MailDraft; facts: DraftFacts }) => {
  const { html, inReplyTo } = draft;
  return (
    <>
      <p class="muted">
        From {visibleText(from ?? DEFAULT_ACCOUNT_TEXTS[inReplyTo === null ? 'new' : 'answer'])}
      </p>
      <p class="muted">To {visibleText(listRecipients(draft).join(', ')) || 'no recipients yet'}</p>
      {inReplyTo !== null && (
        <p class="muted">
          In reply to <a href={pageLink('message', inReplyTo)}>this e-mail</a>
        </p>
      )}
      {files.length > 0 && <p class="muted">Attachments: {visibleText(files.join(', '))}</p>}
      {html !== null && (
        <p class="muted">The draft has an HTML version, which is not shown here.</p>
      )}
    </>
  );
};
