import { pagePaths } from '../../src/kernel/pagepath.js';
import { Heading } from '../parts/heading.js';
import { OTHER_PLACES } from '../parts/navigation.js';

/** Places without room in the bar of a phone. */
export const MorePlaces = () => (
  <>
    <Heading title="More" />
    <ul class="cards">
      {OTHER_PLACES.map(({ name, label }) => (
        <li key={name} class="card">
          <p>
            <a href={pagePaths[name]}>{label}</a>
          </p>
        </li>
      ))}
    </ul>
  </>
);
