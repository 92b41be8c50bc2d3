import * as Lab from '@hapi/lab';
import { none } from './harness/sources.js';
import { apiTexts, commandTexts, type UserText } from './harness/texts.js';

export const lab = Lab.script();
const { before, describe, it } = lab;

const VERBS = new Set(
  (
    'Accept Add Answer Approve Cancel Change Check Complete Confirm Copy Create Delegate Delete ' +
    'Deny Disable Download Enable Extract Find Follow Get Impersonate Import Index Install Join Leave Link List ' +
    'Log Mark Measure Open Pause Preview Print Process Read Receive Redeem Refresh Register ' +
    'Reject Remove Reopen Replay Reply Reprocess Resend Reset Restart Restore Resume Retry ' +
    'Reveal Rotate Run Search Send Set Show Sign Spawn Start Stop Stream Submit Test Transcribe Transfer ' +
    'Unlink Update Upload Use Validate Verify Wait Watch'
  ).split(' '),
);
const MAX_SUMMARY_WORDS = 10;
/** Constructions that a reader cannot understand without the sentence before. */
const DANGLING =
  /^(To|Of|For|Those|That|What|Which|Who|Likewise|Its|So)\b|\b(is|are) to\b|\bmay stand\b|\bfrom here on\b|\b(to|for|of|with) one$/;

describe('texts that users read', () => {
  let texts: UserText[];
  before(async () => {
    texts = [...(await apiTexts()), ...(await commandTexts())];
  });

  const wrong = (kinds: UserText['kind'][], isWrong: (text: string) => boolean) =>
    none(
      texts
        .filter(({ kind, text }) => kinds.includes(kind) && isWrong(text))
        .map(({ at, text }) => `${at}: ${text}`),
    );

  it('summarize with a verb first, in at most ten words and without a full stop', () => {
    wrong(['summary', 'command'], (text) => {
      const words = text.split(' ');
      return !VERBS.has(words[0] ?? '') || words.length > MAX_SUMMARY_WORDS || text.endsWith('.');
    });
  });

  it('say what null means', () => {
    wrong(['nullable'], (text) => !/\bnull\b/.test(text));
  });

  it('describe without a dangling clause', () => {
    wrong(['field', 'flag'], (text) => DANGLING.test(text));
  });
});
