interface ReportedRecipient {
  address: string;
  action?: string;
  reply?: string;
  /** Fields of the recipient group, in place of those above. */
  fields?: string[];
}

interface ReportOptions {
  /** Message-ID of the undelivered message. Without it nothing is returned. */
  messageId?: string;
  envelopeId?: string;
  recipients: ReportedRecipient[];
  id: string;
}

const groupOf = ({
  address,
  action = 'failed',
  reply = '550 5.1.1 No such user',
  fields,
}: ReportedRecipient): string[] =>
  fields ?? [
    `Final-Recipient: rfc822; ${address}`,
    `Action: ${action}`,
    'Status: 5.1.1',
    `Diagnostic-Code: smtp; ${reply}`,
  ];

/** A delivery report as written by Postfix (RFC 3464). */
export const reportOf = ({ messageId, envelopeId, recipients, id }: ReportOptions): string => {
  const returned =
    messageId === undefined
      ? []
      : [
          ...['--b', 'Content-Type: message/rfc822', ''],
          ...[
            'From: ada@example.test',
            `Message-ID: ${messageId}`,
            'Subject: x',
            '',
            'It is done.',
          ],
        ];
  const groups = recipients.flatMap((each) => ['', ...groupOf(each)]);
  return [
    ...['From: MAILER-DAEMON@mx.example.org', 'Subject: Undelivered Mail Returned to Sender'],
    ...[`Message-ID: ${id}`, 'Auto-Submitted: auto-replied', 'MIME-Version: 1.0'],
    ...['Content-Type: multipart/report; report-type=delivery-status; boundary=b', ''],
    ...['--b', 'Content-Type: text/plain', '', 'I am sorry.'],
    ...['--b', 'Content-Type: message/delivery-status', '', 'Reporting-MTA: dns; mx.example.org'],
    ...(envelopeId === undefined ? [] : [`Original-Envelope-Id: ${envelopeId}`]),
    ...[...groups, '', ...returned, '--b--', ''],
  ].join('\r\n');
};
