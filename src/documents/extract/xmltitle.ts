import { ExtractFailed } from './job.js';
import { walkXml, type XmlVisitor } from './xmlwalk.js';

interface TitleReader {
  visitor: Required<Pick<XmlVisitor, 'open' | 'text' | 'close'>>;
  /** `null` until the title has ended. */
  title(): string | null;
}

/** Reads the first `title` (Dublin Core) within the element that holds the properties of a file. */
export const createTitleReader = (holder: string): TitleReader => {
  let title: string | null = null;
  let open: string | null = null;
  return {
    title: () => title,
    visitor: {
      open: (name, _, parent) => {
        if (title === null && name === 'title' && parent === holder) open = '';
      },
      text: (text) => {
        if (open !== null) open += text;
      },
      close: (name) => {
        if (name !== 'title') return;
        title ??= open;
        open = null;
      },
    },
  };
};

/** A file is readable without its properties. */
export const readTitle = async (
  pieces: AsyncIterable<Uint8Array>,
  holder: string,
): Promise<string | null> => {
  const { visitor, title } = createTitleReader(holder);
  try {
    await walkXml(pieces, { ...visitor, isDone: () => title() !== null });
  } catch (error) {
    if (!(error instanceof ExtractFailed)) throw error;
  }
  return title();
};
