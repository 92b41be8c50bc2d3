import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { parseFailureReport } from '../../../src/providers/mail/report.js';

export const lab = Lab.script();
const { describe, it } = lab;

const lines = (...all: string[]): string => all.join('\r\n');

/** A report on four recipients, two of whom the message did not reach. */
const STATUS = lines(
  'Reporting-MTA: dns; mx.example.org',
  'Original-Envelope-Id: 1@example.test',
  '',
  'Original-Recipient: rfc822;Bob@Example.org',
  'Final-Recipient: RFC822; <robert@elsewhere.example.org>',
  'ACTION: Failed (for good)',
  'Status: 5.1.1',
  'Diagnostic-Code: smtp; 550 5.1.1',
  '\t<bob@example.org>: no\u202e such\u0007 user',
  ' ',
  'Final-Recipient: rfc822; carol@example.org',
  'Action: delayed',
  'Status: 4.4.1',
  '',
  'Final-Recipient: utf-8; grüße@example.org',
  'Action: failed',
  'Status: 5.7.1',
  '',
  'Final-Recipient: rfc822; eve@example.org',
  'Action: delivered',
);

describe('the report of a failure', () => {
  it('names the message, and each recipient with the words of the server', () => {
    const returned = lines(
      'Received: x',
      'Message-Id:',
      ' <2@example.test>',
      '',
      'Message-ID: <3>',
    );
    expect(parseFailureReport(STATUS, returned)).to.equal({
      messageIds: ['<2@example.test>', '<1@example.test>'],
      failed: [
        {
          addresses: ['Bob@Example.org', 'robert@elsewhere.example.org'],
          reply: '550 5.1.1 <bob@example.org>: no such user',
        },
        { addresses: ['grüße@example.org'], reply: '5.7.1' },
      ],
    });
  });

  it('finds nothing in what is no report', () => {
    const nothing = { messageIds: [], failed: [] };
    expect(parseFailureReport('', '')).to.equal(nothing);
    const noAddress = lines('Final-Recipient: x400; /g=bob', 'Action: failed');
    expect(parseFailureReport(noAddress, 'x\r\n\r\nMessage-ID: <1@example.test>')).to.equal(
      nothing,
    );
    expect(parseFailureReport('Action: failed', 'Message-ID: bob')).to.equal(nothing);
  });

  it('reads what is made to take long, and at most 1000 recipients', () => {
    for (const piece of ['\n', ' \n', '\n ', 'a', ' ', 'Action: failed\n\n', '<', ': ', ';']) {
      parseFailureReport(piece.repeat(128 * 1024), piece.repeat(64 * 1024));
    }
    const groups = 'Final-Recipient: rfc822; bob@example.org\nAction: failed\n\n'.repeat(5000);
    expect(parseFailureReport(groups, '').failed.length).to.equal(1000);
  });
});
