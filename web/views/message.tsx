import { useState } from 'preact/hooks';
import type { MailMessageDetail } from '../../src/email/messages/contract.js';
import { formatOmittedParts } from '../../src/kernel/omittedparts.js';
import { pageLink } from '../../src/kernel/pagepath.js';
import { Button, useAction } from '../parts/action.js';
import { Composer } from '../parts/composer.js';
import { Heading } from '../parts/heading.js';
import { LongText, visibleText } from '../parts/json.js';
import { addressNames, fileSize, subjectText } from '../parts/mailtext.js';
import { Fact, Failure } from '../parts/notes.js';
import { Show } from '../parts/show.js';
import { Ago } from '../parts/time.js';
import { ask } from '../state/api.js';
import { useLoad } from '../state/load.js';

/** One e-mail as text. Its HTML is not shown, and nothing in it is fetched or a link. */
export const MessageView = ({ id }: { id: string }) => {
  const mail = useLoad({
    key: id,
    load: (signal) => ask('GET', '/api/email/messages/{id}', { id }, signal),
  });
  return (
    <>
      <Heading title="Message" />
      <Show of={mail} what="the e-mail" listed="mail">
        {(data) => (
          <>
            <MailHeader mail={data} />
            <LongText text={data.text} kind="prose" />
            <MailFiles id={id} files={data.attachments} />
            <Answer mail={data} />
          </>
        )}
      </Show>
    </>
  );
};

/** A reply, saved as a draft and sent from there. */
const Answer = ({ mail }: { mail: MailMessageDetail }) => {
  const [isKept, setKept] = useState(false);
  const { id, accountId, from, replyTo } = mail;
  const to = replyTo.length > 0 ? replyTo : from === null ? [] : [from];
  if (to.length === 0) return null;
  return (
    <>
      <Composer
        name={`answer ${id}`}
        label="Your reply"
        words={['Save as a draft', 'Saving…']}
        isLong
        hint={`To ${addressNames(to)}. Nothing is sent until you send the draft.`}
        send={async ({ text, sendKey }) => {
          const body = { inReplyTo: id, accountId, text };
          await ask('POST', '/api/email/drafts', { body, sendKey });
          setKept(true);
        }}
      />
      {isKept && (
        <p role="status">
          Saved. Send it from <a href={`${pageLink('mail')}?show=drafts`}>your drafts</a>.
        </p>
      )}
    </>
  );
};

const MailHeader = ({ mail }: { mail: MailMessageDetail }) => {
  const { from, to, cc, replyTo, authentication, problem } = mail;
  return (
    <>
      <p>
        <strong>{subjectText(mail)}</strong>
      </p>
      <dl class="facts">
        <Fact name="From">{from !== null && addressNames([from])}</Fact>
        <Fact name="To">{to.length > 0 && addressNames(to)}</Fact>
        <Fact name="Cc">{cc.length > 0 && addressNames(cc)}</Fact>
        <Fact name="Reply to">{replyTo.length > 0 && addressNames(replyTo)}</Fact>
        <Fact name="Date">
          <Ago at={mail.date} />
        </Fact>
        <Fact name="Sender">
          {authentication === null
            ? 'not verified: the mail server reported no result'
            : `spf ${authentication.spf}, dkim ${authentication.dkim}, dmarc ${authentication.dmarc}`}
        </Fact>
        <Fact name="Category">{mail.category}</Fact>
        <Fact name="Thread">
          <a href={`${pageLink('mail')}?${new URLSearchParams({ thread: mail.threadId })}`}>
            Whole conversation
          </a>
        </Fact>
        <Fact name="Truncated">{mail.isCut && 'the message is longer than shown'}</Fact>
        <Fact name="Omitted">{formatOmittedParts(mail) || null}</Fact>
        <Fact name="Problem">{problem !== null && visibleText(problem)}</Fact>
      </dl>
    </>
  );
};

type AttachedFile = MailMessageDetail['attachments'][number];

const MailFiles = ({ id, files }: { id: string; files: AttachedFile[] }) =>
  files.length === 0 ? null : (
    <>
      <h2>Files</h2>
      <ul class="cards">
        {Object.entries(files).map(([number, file]) => (
          <AttachedFileCard key={number} file={file} of={{ id, number }} />
        ))}
      </ul>
    </>
  );

/** A file that can be kept as a document. */
const AttachedFileCard = ({
  file,
  of,
}: {
  file: AttachedFile;
  of: { id: string; number: string };
}) => {
  const action = useAction();
  const [kept, setKept] = useState<'new' | 'known' | null>(null);
  const keep = async (): Promise<void> => {
    const path = '/api/email/messages/{id}/attachments/{number}/document';
    const { duplicate } = await ask('POST', path, of);
    setKept(duplicate ? 'known' : 'new');
  };
  return (
    <li class="card">
      <p>
        <strong>{visibleText(file.name)}</strong> {visibleText(file.mediaType)}, {fileSize(file)}
      </p>
      {action.error && <Failure error={action.error} />}
      {kept === null ? (
        <div class="buttons">
          <Button action={action} work={keep}>
            Keep as a document
          </Button>
        </div>
      ) : (
        <p role="status">
          {kept === 'new' ? 'Kept. Search the document in ' : 'This file was already in '}
          <a href={pageLink('knowledge')}>your knowledge</a>.
        </p>
      )}
    </li>
  );
};
