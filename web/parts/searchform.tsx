export const SearchForm = ({
  words,
  search,
  isNeeded = false,
}: {
  /** Current search words. */
  words: string;
  search(words: string): void;
  /** Whether there is nothing to show without words. */
  isNeeded?: boolean;
}) => (
  <search>
    <form
      onSubmit={(event) => {
        event.preventDefault();
        search(String(new FormData(event.currentTarget).get('q') ?? '').trim());
      }}
    >
      <label>
        Search
        <input type="search" name="q" required={isNeeded} maxLength={2000} defaultValue={words} />
      </label>
      <button type="submit">Search</button>
    </form>
  </search>
);
