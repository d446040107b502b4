"""What the people of made-up conversations live through, and in which words they tell it."""

from dataclasses import dataclass

PEOPLE = (
    *("Ines", "Tobias", "Maren", "Kofi", "Lucia", "Anders", "Priya", "Gareth", "Yuki", "Nadia"),
    *("Oskar", "Beatriz", "Hamza", "Elin", "Ruben", "Saoirse", "Milan", "Farah", "Jonas", "Wanda"),
)
KIN = ("cousin", "sister", "brother", "neighbour", "aunt", "old flatmate")


@dataclass(frozen=True, slots=True)
class Thread:
    """A part of a life: what it may be, how its owner tells of it, and how others ask."""

    noun: str
    values: tuple[str, ...]
    told: tuple[str, ...]
    told_of_kin: str
    now: str
    before: str
    ever: str
    of_kin: str


THREADS = (
    Thread(
        "job",
        (
            *("baker at the harbour", "nurse on the night ward", "surveyor for the county"),
            *("court translator", "tram driver", "apprentice of a violin maker"),
        ),
        (
            "It is official, they took me on as a {v}. I start on Monday.",
            "I handed in my notice, and from next month on I earn my bread as a {v}.",
            "Everything moved fast: since yesterday I am a {v}.",
        ),
        "My {kin} has become a {v}, of all things.",
        "What does {who} do for a living now?",
        "What was {who}'s first profession before changing careers?",
        "Which professions has {who} had?",
        "What is the profession of {who}'s {kin}?",
    ),
    Thread(
        "flat",
        ("Aarhus", "Porto", "Ghent", "Trieste", "Turku", "Galway"),
        (
            "The boxes are unpacked, and {v} feels like home already.",
            "We signed the lease, so it is off to {v} for good.",
            "I gave the keys back last week. My letters reach me in {v} from here on.",
        ),
        "My {kin} packed everything into one van and settled in {v}.",
        "In which town does {who} live at present?",
        "In which town did {who} live at first?",
        "In which towns has {who} lived?",
        "Where does {who}'s {kin} live?",
    ),
    Thread(
        "pet",
        (
            *("a whippet called Biscuit", "a one-eyed cat called Admiral", "two tortoises"),
            *("a parrot that whistles", "a retired greyhound", "a very fat rabbit"),
        ),
        (
            "There is {v} asleep under my desk while I write this.",
            "The shelter rang, and now I share my kitchen with {v}.",
            "You will laugh, but I came home with {v}.",
        ),
        "My {kin} talks of nothing but {v} these days.",
        "Which animal has {who} got most lately?",
        "Which animal did {who} have first?",
        "Which animals has {who} taken in?",
        "Which animal does {who}'s {kin} keep?",
    ),
    Thread(
        "lessons",
        ("the cello", "the accordion", "the oboe", "jazz drums", "the harp", "the tin whistle"),
        (
            "I found a teacher and began with {v}; the walls are thin, alas.",
            "After a long pause I practise again every evening, this time {v}.",
            "A friend lent me the thing, so I am learning {v} now.",
        ),
        "My {kin} plays {v} in a wedding band.",
        "Which instrument is {who} learning these days?",
        "Which instrument did {who} start out with?",
        "Which instruments has {who} tried?",
        "Which instrument does {who}'s {kin} play?",
    ),
    Thread(
        "diet",
        ("gluten", "shellfish", "anything fried", "dairy", "sugar", "meat"),
        (
            "The doctor was clear: no more {v} for me.",
            "I feel so much lighter since I stopped eating {v}.",
            "Please remember when you cook on Saturday that {v} does not agree with me.",
        ),
        "My {kin} cannot touch {v} without a rash.",
        "Which food does {who} avoid now?",
        "Which food did {who} give up first?",
        "What has {who} given up eating over time?",
        "Which food does {who}'s {kin} not tolerate?",
    ),
    Thread(
        "training",
        (
            *("open-water swimming", "fencing", "orienteering", "bouldering"),
            *("rowing in a four", "archery"),
        ),
        (
            "I joined a club and do {v} twice a week.",
            "My shoulders ache, which is what {v} does to a beginner.",
            "I swapped my old sport for {v} and do not look back.",
        ),
        "My {kin} wins cups in {v}.",
        "Which sport does {who} do nowadays?",
        "Which sport did {who} do in the beginning?",
        "Which sports has {who} done?",
        "Which sport is {who}'s {kin} good at?",
    ),
    Thread(
        "journey",
        (
            *("the Faroe Islands", "Tbilisi", "the Atlas mountains", "Hokkaido", "Patagonia"),
            "the Curonian Spit",
        ),
        (
            "Tickets are bought, in six weeks I walk through {v}.",
            "I am just back from {v}, sunburnt and happy.",
            "Change of plan: the holidays go to {v} instead.",
        ),
        "My {kin} sent me a postcard from {v}.",
        "Where did {who} travel most recently?",
        "Where did {who} travel the first time we spoke of holidays?",
        "To which places has {who} travelled?",
        "From where did {who}'s {kin} write a card?",
    ),
    Thread(
        "studies",
        (
            *("bookbinding", "Portuguese", "beekeeping", "statistics", "sign language"),
            "boat building",
        ),
        (
            "On Thursday evenings I take a class in {v}.",
            "I passed the first exam in {v}, can you believe it.",
            "The course is full of retired people, but {v} is harder than it looks.",
        ),
        "My {kin} teaches {v} at the night school.",
        "What does {who} study in evening classes now?",
        "Which subject did {who} take up first?",
        "Which subjects has {who} taken courses in?",
        "What does {who}'s {kin} teach?",
    ),
    Thread(
        "vehicle",
        (
            *("a cargo bike", "a second-hand moped", "a tiny electric car", "a folding bicycle"),
            *("an old delivery van", "a tandem"),
        ),
        (
            "I sold the old one and get around on {v} from now on.",
            "Guess what is parked outside: {v}, all mine.",
            "It squeaks, but {v} takes me to the station in nine minutes.",
        ),
        "My {kin} drove {v} into a hedge.",
        "How does {who} get around these days?",
        "What did {who} use to get around at first?",
        "Which means of transport has {who} owned?",
        "What did {who}'s {kin} drive?",
    ),
    Thread(
        "garden",
        ("runner beans", "dahlias", "a quince tree", "artichokes", "hops", "saffron crocus"),
        (
            "The allotment is dug over, and this year it is all {v}.",
            "Slugs ate the rest, so I planted {v}.",
            "My hands are black with soil, I put in {v} this morning.",
        ),
        "My {kin} covered a whole balcony with {v}.",
        "What did {who} plant last?",
        "What did {who} grow in the first season?",
        "What has {who} planted?",
        "What grows on the balcony of {who}'s {kin}?",
    ),
)

ASKED_BACK = (
    "And how is it going with the {noun}?",
    "You never told me how the {noun} turned out.",
    "Tell me, is the {noun} still what you hoped for?",
)
ANSWERED = (
    "Honestly, the first weeks were the worst of it, and now I would not want to miss it.",
    "Mixed. Half of the time I regret it, and the other half I cannot stop smiling.",
    "It costs far more than I had reckoned, so I have to be careful until spring.",
    "Better than feared. The people around it are kind, which matters most.",
    "I nearly gave up in the second week, and then something clicked.",
    "Do not ask. I forgot the forms twice and had to pay a fine.",
    "Quietly wonderful. I get up early for it without an alarm.",
    "My back hurts from it, but the evenings are worth every minute.",
)
SMALL_TALK = (
    "It has rained for nine days here and the cellar smells of it.",
    "Did you see the moon last night, right above the chimney?",
    "I burnt the soup again because I was reading.",
    "The lift is broken, so I know all my neighbours now.",
    "Somebody stole the bench in front of the library.",
    "I slept badly, the street is being dug up at six every morning.",
    "The market had the first strawberries, far too dear.",
    "My phone fell into the sink, hence the silence.",
    "I watched that long film you praised and fell asleep twice.",
    "There was a queue for stamps, in this day and age.",
    "The choir next door rehearses the same four bars.",
    "I tidied one drawer and found three umbrellas.",
    "We ate too late and talked about school for hours.",
    "The heating is back, I am writing this in shirt sleeves.",
    "I lost at cards to a child of eight.",
    "The train stood in a field for an hour, nobody knew why.",
)
GREETINGS = (
    "Hello {other}, it has been a while, how are you?",
    "Good evening {other}, do you have a minute?",
    "There you are, {other}! I was just thinking of you.",
)
