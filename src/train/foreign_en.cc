#include "train/foreign.h"

namespace hengshi::train {

// clang-format off
std::string_view foreign_english() {
  return R"foreign(Write a short story about a lighthouse keeper who finds a message in a bottle
Compose a haiku about the first snow in the city
Draft a cover letter for a junior data analyst position at a hospital
Write a persuasive essay arguing that public libraries should stay open on Sundays
Rewrite this paragraph so that it sounds more professional: hey guys, the thing is broken again, can somebody look at it soon
Translate the following sentence into German and explain the word order: I would have called you if I had known.
Summarize the plot of a novel about two rival bakers in five sentences
Give me ten catchy slogans for a company that sells reusable bottles
Write a limerick about a cat that wanted to be an astronaut
Act as a travel guide and plan a four day trip to Lisbon for a couple on a budget
Pretend you are a strict interviewer and ask me five questions about project management
You are a medieval blacksmith. Describe your morning to a visiting merchant
Explain how photosynthesis works to a ten year old
Why is the sky blue during the day and red at sunset?
What caused the fall of the Western Roman Empire? Discuss at least three factors
Compare the causes of the French and the Russian revolutions
Describe the main ideas of existentialism and name three thinkers associated with it
What is the difference between mitosis and meiosis?
How do vaccines train the immune system, and why do some need boosters?
Explain the concept of opportunity cost with an everyday example
What are the pros and cons of a universal basic income?
Solve for x: 3x + 7 = 2(x - 4) and show each step
A train leaves at noon travelling at 60 miles per hour and another leaves an hour later at 80. When does the second catch up?
Prove that the square root of two is irrational
Find the derivative of f(x) = x^2 * sin(x)
What is the probability of drawing two aces in a row from a standard deck without replacement?
If five machines make five widgets in five minutes, how long do a hundred machines need for a hundred widgets? Think step by step
Evaluate the integral of e^(2x) from 0 to 1
Write a Python function that returns the n-th Fibonacci number using memoization
How do I merge two pandas dataframes on a date column and fill the gaps?
Explain the difference between a process and a thread, with an example in C
Why does this code print undefined? for (var i = 0; i < 3; i++) { setTimeout(() => console.log(arr[i]), 0) }
Write an SQL query that returns the second highest salary in each department
Design a database schema for a library that lends books and films
Implement a thread safe queue in Java and explain the locking
What does the regular expression ^(?=.*\d)[a-z\d]{8,}$ match?
How would you design a URL shortener that serves a billion requests a day?
Convert this curl command into a Python requests call: curl -X POST -d '{"a":1}' http://example.org/items
Write unit tests for a function that validates email addresses
Explain the CAP theorem and give an example of a system for each choice
What is the difference between REST and GraphQL?
Refactor this function to be more readable and explain your changes: def f(a,b): return [x for x in a if x in b and not x<0]
How does garbage collection work in Go?
Write a bash script that renames all jpg files in a folder by their creation date
What are transformers in machine learning and why did they replace recurrent networks?
Explain overfitting and three ways to prevent it
How does gradient descent with momentum differ from plain gradient descent?
Describe the bias variance trade-off in simple words
What is quantum entanglement and can it be used to send information faster than light?
How do black holes form and what happens at the event horizon?
Who painted the ceiling of the Sistine Chapel and how long did it take?
What were the main consequences of the Treaty of Versailles?
Which countries share a border with Switzerland, and which languages are spoken there?
Explain how a bill becomes law in a parliamentary system
Describe the water cycle in a paragraph suitable for a school textbook
What would happen if the Moon suddenly disappeared?
Why do cats purr?
How do bees communicate the location of flowers?
What is the largest desert on Earth and how did it form?
Describe three theories about why the dinosaurs died out
Analyze the symbolism of the green light in The Great Gatsby
Compare the leadership styles of two characters from a Shakespeare play
Write a scene in which two old friends meet at an airport after twenty years
Continue this story: The door had been locked for a century, yet this morning it stood open
Write rap lyrics about waking up early for work
Create a dialogue between a robot and a philosopher about free will
Write a bedtime story featuring a brave little tractor
Invent a new holiday, describe its customs and explain its origin
Develop a magic system for a fantasy novel set in an underwater kingdom
Write the opening paragraph of a detective story set in the 1920s
Give me a list of twenty unusual names for a fantasy tavern
Write a product description for a wooden desk lamp in the style of a luxury brand
Draft a press release announcing a merger between two small breweries
Write a resignation letter that is polite and leaves the door open
Write a speech for the best man at a wedding, funny but not embarrassing
Compose an apology email to a client for a delayed shipment of prototypes
Create a marketing plan for a new vegan bakery in a small town
Perform a SWOT analysis of a neighbourhood bookshop
Outline a business plan for a mobile bike repair service
What questions should investors ask before funding a hardware startup?
Suggest five team building activities for a remote team of twelve people
How can a manager give negative feedback without discouraging the employee?
Explain the difference between OKRs and KPIs
Write a job advertisement for a senior gardener at a botanical garden
What is inflation and how do central banks try to control it?
Compare index funds, bonds and real estate for a cautious investor
Explain how compound interest works and show a calculation over thirty years
What legal issues should I think about before publishing a podcast?
Can a landlord keep the deposit for normal wear and tear? Explain the usual rules
Explain the difference between civil and criminal law
What are common causes of chronic headaches and which tests might a doctor order?
Describe how aspirin works and its main side effects
Make a weekly meal plan for someone with high blood pressure
Create a twelve week training plan for a first half marathon
What stretches help against lower back pain from sitting all day?
How can I stop procrastinating and build a study habit?
I feel lonely since I moved to a new city, what can I do?
How do I tell my best friend that I cannot attend her wedding?
My teenage son only wants to play video games. How should I talk to him?
What is the meaning of life according to Buddhism, Stoicism and Christianity?
Do you think artificial intelligence will replace teachers? Give arguments for both sides
Are you conscious? How would you know?
Which company trained you and what data did they use?
What are the ethical problems of facial recognition in public places?
Debate the motion that zoos should be abolished, first for and then against
If you could have dinner with any historical figure, who would it be and why?
What makes a good leader?
Explain the trolley problem and three responses to it
Three boxes are labelled apples, oranges and mixed, and all labels are wrong. How do you fix them by drawing one fruit?
I have two ropes that each burn in one hour, unevenly. How can I measure forty five minutes?
Extract all names and places from this sentence: On Friday Maria and Tom drove from Bristol to Cardiff to meet Dr. Evans
Classify the sentiment of this review: The room was spotless but the walls were paper thin and we barely slept
Sort these words into animals and plants: oak, tiger, rose, dolphin, fern, penguin
Turn the following list into a JSON array: Anna, 28, Leeds; Omar, 35, York
Make a markdown table comparing three programming languages by speed, safety and ease of learning
Correct the grammar in this sentence: Me and him was going to the store when it begun raining
Rewrite the sentence in the passive voice: The engineers repaired the bridge in three months
Shorten this text to fifty words: The committee met on Monday to discuss the budget and after a long argument about travel costs it decided to postpone everything until the next session in spring
Read the passage and answer the question. The town recycled 20 percent of its waste in 2015 and 60 percent in 2020. By how many percentage points did the rate rise and what might explain it?
Give a title to this article: Cities are turning small unused lots into pocket parks where people can rest
Write a paragraph using these words: harbour, photograph, lantern, goodbye
Identify the odd one out and explain: violin, cello, trumpet, guitar
Which of the following is not a renewable source of energy? A) wind B) coal C) tidal D) solar. Explain your choice
True or false: sound travels faster in a vacuum than in air. Justify your answer
Put these events in chronological order: the moon landing, the fall of the Berlin Wall, the invention of the telephone
Explain the rules of chess to a complete beginner
How do you bake sourdough bread without a starter?
What is the best way to train a puppy not to bite?
How do I grow tomatoes on a balcony that gets little sun?
Recommend five science fiction novels that deal with first contact and say why
Which classical pieces should a beginner listen to first?
Describe the characteristics of impressionist painting
What are the main differences between Gothic and Romanesque architecture?
How did jazz develop in New Orleans?
Explain the offside rule in football as if I had never seen a match
Design a board game for four players about exploring the deep sea
Write a quest for a tabletop role playing game that starts in a haunted mill
Suggest improvements to this abstract: We study the effect of sleep on memory. We find an effect. It is significant
Write an outline for a thesis about the influence of short videos on reading habits
Generate five research questions about urban beekeeping
What methodology would you use to study commuting habits in a mid sized city?
Explain what a p value is and what it is not
Design an experiment to test whether plants grow better with music
Balance the chemical equation: Fe + O2 -> Fe3O4
Two resistors of 6 and 3 ohms are in parallel. What is the total resistance?
How much water must be added to 100 grams of a 20 percent salt solution to dilute it to 8 percent?
A ball is thrown upward at 20 metres per second. How high does it go?
Convert the number 173 to binary and hexadecimal
In how many ways can the letters of the word BANANA be arranged?
Write a lesson plan on Newton's second law for fifteen year olds
How should I prepare for the writing part of an English exam in three months?
What is the difference between affect and effect?
Explain the subjunctive mood in Spanish with examples
List twenty idioms about weather and their meanings
What is the etymology of the word sandwich?
Tell me about the history of tea in Britain
Why do some countries drive on the left?
How does an airplane wing create lift? Is the common explanation correct?
Describe how a nuclear reactor works, including the role of the moderator
What is the blockchain and how does proof of stake differ from proof of work?
How do noise cancelling headphones work in terms of physics?
Explain how search engines rank pages
What are microservices and when should a team avoid them?
Compare Docker containers with virtual machines
Write a Dockerfile for a small Flask application and explain every line
Given an array of integers, return indices of the two numbers that add up to a target in linear time
Explain recursion using the Towers of Hanoi
What is a monad? Explain it without mathematics
How do I center a div horizontally and vertically in CSS?
Write a regular expression that matches ISO dates and explain it
Why might a SQL query with an index still do a full table scan?
Write a commit message for a change that fixes a race condition in the cache
Review this code for security problems: query = "SELECT * FROM users WHERE name = '" + name + "'"
Give me a step by step tutorial for building a weather station with a microcontroller
What are good strategies to reduce food waste in restaurants?
Propose a policy to reduce traffic in a historic city centre
Discuss the impact of globalization on small farmers
Explain the prisoner's dilemma and its use in international relations
What is carbon neutrality and what can a household do about it?
How did the printing press change European society?
Summarize the arguments of a debate about nuclear energy in two columns
Imagine the internet disappears tomorrow. Describe the first week
Write a diary entry from the point of view of a houseplant
Describe a sunset without using any colour words
Write six word stories about forgiveness
Give me feedback on this poem: Roses are gone, the winter is near, I sit by the window and wait for the year
Turn this recipe into a shopping list for eight people: two eggs, 100 grams of flour and a cup of milk serve two
Brainstorm names for a podcast about forgotten inventions
Write a parody of a motivational speech given by a sloth
Explain the plot holes in a typical time travel film
Should schools ban smartphones? Write a balanced newspaper column
What are the symptoms of burnout and how is it treated?
How should I negotiate a higher salary in my first job?
Create a budget template for a student living on a small scholarship
What documents does someone need to start a small import business?
Write interview questions for a nurse who has worked abroad
Explain to me how tides work and why there are two a day
What is the placebo effect and why is it important in medicine?
Tell me a fun fact about octopuses and explain the science behind it
Describe the architecture of a system that recommends films to users
How would you detect anomalies in a time series of server metrics?
What is the difference between supervised and reinforcement learning?
Plan a dinner menu with three courses for guests who do not eat gluten
Give me a critique of utilitarianism in two hundred words
You are an experienced therapist. A client says he cannot sleep because of work. How do you respond?
As a historian, explain how the Silk Road shaped trade and religion
)foreign";
}
// clang-format on

}  // namespace hengshi::train
