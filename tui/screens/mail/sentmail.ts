import type { SentMailDetail } from '../../../src/client/index.js';
import type { ScreenPage } from '../../page.js';
import { row, tonedSpan } from '../../parts/row.js';
import { factRows, jsonRows, textRows } from '../../parts/text.js';
import type { State } from '../../state/state.js';
import { topView } from '../../state/ui.js';
import { detailPage } from '../detail.js';
import { sentActs } from './acts.js';
import { formatMailSubject, sentFacts } from './facts.js';

const EVERY_MS = 15_000;

const shownMail = ({ ui, lists }: State): SentMailDetail | null =>
  lists.wholeSentMails.byId[topView(ui).id ?? ''] ?? null;

/** One sent e-mail: the status for each recipient, and the text. */
export const sentMailPage: ScreenPage = {
  ...detailPage<SentMailDetail>({
    name: 'sentmail',
    title: 'Sent e-mail',
    noun: 'sent e-mail',
    tabs: [],
    list: 'wholeSentMails',
    shown: shownMail,
    head: (state, mail) => [
      row(
        tonedSpan('strong', formatMailSubject(mail)),
        '   ',
        state.lists.wholeSentMails.busy[mail.id] ?? '',
      ),
      row(
        tonedSpan(
          'muted',
          mail.html === null ? '' : 'has an HTML version, which is not shown here',
        ),
      ),
    ],
    text: (state, mail, width) => {
      const { isRaw, isWrapped } = topView(state.ui);
      if (isRaw) return jsonRows(mail, width, isWrapped);
      return [
        ...factRows(sentFacts(mail, state.session.now), width),
        [],
        ...textRows(mail.text, width, true),
      ];
    },
  }),
  acts: (state) => {
    const mail = shownMail(state);
    return mail ? sentActs(mail, 'wholeSentMails') : {};
  },
  line: ({ ui }) => `adjutant email sent get ${topView(ui).id}`,
  needs: ({ ui }) => [
    { is: 'list', list: 'wholeSentMails', of: topView(ui).id, everyMs: EVERY_MS },
  ],
};
