/** Choice among a few values or none. Kept in the address, so that going back restores it. */
export const Choice = <V extends string>({
  name,
  label,
  unless,
  of,
  chosen,
  choose,
}: {
  /** Query parameter. */
  name: string;
  label: string;
  /** Label for no value: `all`. */
  unless: string;
  of: readonly V[];
  chosen: V | undefined;
  choose(value: V | undefined): void;
}) => (
  <label class="filter">
    {label}
    <select
      value={chosen ?? ''}
      onChange={({ currentTarget }) => {
        const value = of.find((one) => one === currentTarget.value);
        const query = new URLSearchParams(location.search);
        if (value === undefined) query.delete(name);
        else query.set(name, value);
        history.replaceState(
          history.state,
          '',
          `${location.pathname}${query.size ? '?' : ''}${query}`,
        );
        choose(value);
      }}
    >
      <option value="">{unless}</option>
      {of.map((value) => (
        <option key={value} value={value}>
          {value.replaceAll('_', ' ')}
        </option>
      ))}
    </select>
  </label>
);

/** Choice of one status, or all. */
export const StatusFilter = <S extends string>(props: {
  of: readonly S[];
  chosen: S | undefined;
  choose(status: S | undefined): void;
}) => <Choice name="status" label="Status" unless="all" {...props} />;
