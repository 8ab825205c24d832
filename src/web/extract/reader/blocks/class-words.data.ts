/**
 * What words in `class`, `id` and `itemprop` say about an element. They are names that stylesheets and schema.org
 * share all over the world, not words of a page's language.
 */
export const CLASS_WORDS = {
  navigation:
    'nav navbar navigation menu submenu megamenu dropdown breadcrumb breadcrumbs crumbs topbar navi',
  header: 'header masthead banner head topnav siteheader',
  footer: 'footer colophon foot bottom sitefooter',
  sidebar: 'sidebar aside rail sidenav sidebars secondary complementary offcanvas drawer',
  comments: 'comment comments reply replies disqus respond commentlist discussion',
  share: 'share sharing social shares addthis sharedaddy follow facebook twitter linkedin whatsapp pinterest',
  related:
    'related recommended recommendations recommendation recirc more popular trending similar suggested latest recent upsell crosssell teaser teasers promos also',
  advertisement:
    'ad ads adv advert advertisement sponsor sponsored promo promotion adsense dfp outbrain taboola',
  dialog:
    'modal popup overlay lightbox dialog cookie cookies consent gdpr privacy onetrust notice alert snackbar toast',
  newsletter:
    'newsletter subscribe subscription signup optin mailchimp register registration login signin paywall',
  byline: 'byline author authors meta date dateline time timestamp published posted updated publisher',
  article:
    'article post entry story blogpost hentry articlebody storybody richtext prose rte wysiwyg markdown blog',
  content: 'content contents main body primary maincontent text copy page container section',
  product: 'product products price prices pdp sku cart buy offer offers shop woocommerce variant variants',
  review: 'review reviews rating ratings star stars testimonial testimonials',
  list: 'list listing grid items row cards card item tile tiles results result feed archive loop collection',
  tags: 'tag tags category categories label labels badge badges chip chips pill topics keywords',
  widget: 'widget widgets block module plugin component',
  caption:
    'caption figcaption credit credits image img photo gallery media thumbnail thumb video player picture wp',
  contents: 'toc tableofcontents outline index anchor anchors jump',
  pagination: 'pagination pager page pages next prev previous paging pagenav',
  search: 'search filter filters facet facets sort sorting refine searchform',
  form: 'form field fields input inputs contact enquiry quote gform wpcf',
  title: 'title headline heading hero h1 subtitle lead intro summary excerpt standfirst dek jumbotron',
  button: 'button buttons btn cta action actions link links readmore download',
  hidden: 'hidden sr visuallyhidden screenreader screen hide invisible assistive skip skiplink',
  tools: 'toolbar tools tool controls control print options settings edit editsection utility utilities',
  legal: 'copyright legal disclaimer terms imprint license rights',
  tabs: 'tab tabs tabpanel accordion faq faqs collapse collapsible toggle panel slide slider carousel swiper slick',
  description:
    'description desc details detail spec specs specification specifications features feature overview info information',
  code: 'code highlight syntax doc docs documentation api example snippet sphinx rst docutils',
  message: 'thread topic message messages posts bbp forum reply postbody cooked question answer answers',
  user: 'user users avatar profile member username usertext bio about team signature sig joined',
  announcement: 'announcement announce promobar ticker breaking flash notification subscribebar marquee',
} as const;
