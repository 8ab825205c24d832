const comments = [
  [
    'The maintainer',
    'A run of other characters should become one dash, and there should be none at either end.',
  ],
  ['The reporter', 'Please write it into CHANGES.md too, so that people who kept addresses know.'],
];
const main = document.createElement('main');
const title = document.createElement('h1');
title.textContent = 'Discussion of issue 17';
main.append(title);
for (const [who, what] of comments) {
  const heading = document.createElement('h2');
  heading.textContent = who;
  const text = document.createElement('p');
  text.textContent = what;
  main.append(heading, text);
}
document.getElementById('root').replaceWith(main);
