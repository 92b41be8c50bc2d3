import { Box } from 'ink';
import { hintsView, messageView, ruleView, tabsView, titleView } from './frame/bars.js';
import { helpView } from './frame/help.js';
import { sheetView, sizeView } from './frame/sheets.js';
import { isStranger, welcomeView } from './frame/welcome.js';
import type { PageNeed } from './page.js';
import { Desk, type DeskContext, useDesk, useKnown, useNeed } from './parts/desk.js';
import { Rows } from './parts/rows.js';
import { screenPage } from './screens.js';
import { isTooSmall, sheetHeight } from './state/layout.js';

/** The whole screen: bars above and below, the page between, a sheet over its end. */
export const App = ({ desk }: { desk: DeskContext }) => (
  <Desk value={desk}>
    <Needs />
    <Frame />
  </Desk>
);

/**
 * Every part of it is painted by regions, so that Ink has nothing to draw: out of the flow the
 * frame is laid out and the screen of Ink's stays empty, which otherwise costs most of each key.
 */
const Frame = () => {
  const { painter } = useDesk();
  const position = painter ? 'absolute' : 'relative';
  const width = useKnown(({ ui }) => ui.size.width);
  const height = useKnown(({ ui }) => ui.size.height);
  const isSmall = useKnown(isTooSmall);
  if (isSmall) {
    return (
      <Box position={position} width={width} height={height}>
        <Rows view={sizeView} />
      </Box>
    );
  }
  return (
    <Box position={position} width={width} height={height} flexDirection="column">
      <Rows view={titleView} height={1} />
      <Rows view={tabsView} height={1} />
      <Rows view={ruleView} height={1} />
      <Body />
      <Sheet />
      <Rows view={messageView} height={1} />
      <Rows view={hintsView} height={1} />
    </Box>
  );
};

const Body = () => {
  const page = useKnown(screenPage);
  const isHelp = useKnown(({ ui }) => ui.isHelp);
  const isUnknown = useKnown(isStranger);
  if (isHelp) return <Rows view={helpView} />;
  return <Rows view={isUnknown ? welcomeView : page.view} />;
};

const Sheet = () => {
  const height = useKnown(sheetHeight);
  return height === 0 ? null : <Rows view={sheetView} height={height} />;
};

/** The count in the title must be right on every screen. */
const COUNTED: PageNeed = { is: 'list', list: 'approvals', everyMs: 30_000 };

/** What the page on top wants to know is read and heard while it is shown. */
const Needs = () => {
  const { store } = useDesk();
  useKnown((state) => JSON.stringify(screenPage(state).needs(state)));
  const state = store.get();
  const needs = [COUNTED, ...screenPage(state).needs(state)];
  return needs.map((need) => <Wanted key={JSON.stringify(need)} need={need} />);
};

const Wanted = ({ need }: { need: PageNeed }) => {
  useNeed(need);
  return null;
};
