"""Why an answer is as it is: what is noted while a ticket is worked on, and what is told of it afterwards."""
