import { useState } from 'preact/hooks';

/** The most characters of one text that are shown before a button shows the rest. */
const SHOWN = 2000;

/**
 * Shows any value as what it is: a text as it stands, a record as names with their values. Nothing
 * in it is read as markup or a link.
 */
export const Value = ({ of, isWhole = false }: { of: unknown; isWhole?: boolean }) => {
  if (typeof of === 'string') return <LongText text={of} isWhole={isWhole} />;
  if (Array.isArray(of)) {
    if (of.length === 0) return <code>[]</code>;
    return (
      <ol class="values" start={0}>
        {of.map((each, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the place is all that an item has
          <li key={at}>
            <Value of={each} isWhole={isWhole} />
          </li>
        ))}
      </ol>
    );
  }
  if (typeof of === 'object' && of !== null) return <Values of={of} isWhole={isWhole} />;
  return <code>{String(of)}</code>;
};

/** Shows the fields of a record, each by its name. What is to be decided on is shown whole. */
export const Values = ({ of, isWhole = false }: { of: object; isWhole?: boolean }) => {
  const fields = Object.entries(of);
  if (fields.length === 0) return <code>{'{}'}</code>;
  return (
    <dl class="values">
      {fields.map(([name, value]) => (
        <div key={name}>
          <dt>{visibleText(name)}</dt>
          <dd>
            <Value of={value} isWhole={isWhole} />
          </dd>
        </div>
      ))}
    </dl>
  );
};

/**
 * A text with its line breaks. What a reader could not see is shown by its code. `prose` is for what
 * somebody has written to be read: it has the page's own font, and more of it is shown at first.
 */
export const LongText = ({
  text,
  kind = 'text',
  isWhole = false,
}: {
  text: string;
  kind?: 'text' | 'prose';
  isWhole?: boolean;
}) => {
  const [isOpened, setOpened] = useState(isWhole);
  const most = kind === 'prose' ? 10 * SHOWN : SHOWN;
  const isCut = !isOpened && text.length > most;
  return (
    <>
      <pre class={kind}>{visibleText(isCut ? text.slice(0, most) : text)}</pre>
      {isCut && (
        <button type="button" class="link" onClick={() => setOpened(true)}>
          Show all {text.length.toLocaleString()} characters
        </button>
      )}
    </>
  );
};

/**
 * Control characters, and those that are invisible or turn the direction of the text (Unicode,
 * DerivedCoreProperties); of more than six marks on one letter those beyond, which cover what is near.
 * An emoji keeps what makes it a picture.
 */
const HIDDEN =
  /(?<=\p{Extended_Pictographic})([\ufe0f\u200d])|[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\u2800]|\p{Default_Ignorable_Code_Point}|\p{Cf}|(?<=\p{M}{6})\p{M}/gu;

/** Returns the text with each hidden character as `U+202E`, in marks that text rarely has. */
export const visibleText = (text: string): string =>
  text.replace(HIDDEN, (character, ofEmoji: string | undefined) => {
    if (ofEmoji !== undefined) return ofEmoji;
    const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
    return `⟦U+${code}⟧`;
  });
