package protocol

// events makes the empty event of a type.
var events = map[string]func() Event{
	TypeWelcome:        func() Event { return new(Welcome) },
	TypeStatus:         func() Event { return new(StatusReply) },
	TypeJoined:         func() Event { return new(Joined) },
	TypeLeft:           func() Event { return new(Left) },
	TypeState:          func() Event { return new(State) },
	TypeQueueUpdate:    func() Event { return new(QueueUpdate) },
	TypeDequeued:       func() Event { return new(Dequeued) },
	TypeRequeued:       func() Event { return new(Requeued) },
	TypeMatchProposed:  func() Event { return new(MatchProposed) },
	TypeMatchCancelled: func() Event { return new(MatchCancelled) },
	TypeMatchComplete:  func() Event { return new(MatchCompleted) },
	TypeMatchUpdate:    func() Event { return new(MatchUpdate) },
	TypeMatchEnded:     func() Event { return new(MatchEnded) },
	TypeTokenExpiring:  func() Event { return new(TokenExpiring) },
	TypeGoingAway:      func() Event { return new(GoingAway) },
	TypeAccepted:       func() Event { return new(Accepted) },
	TypeDeclined:       func() Event { return new(Declined) },
	TypeAcked:          func() Event { return new(Acked) },
	TypeLeftMatch:      func() Event { return new(LeftMatch) },
	TypePong:           func() Event { return new(Pong) },
	TypeError:          func() Event { return new(Error) },
}

// Type is TypeWelcome.
func (*Welcome) Type() string { return TypeWelcome }

// Type is TypeStatus.
func (*StatusReply) Type() string { return TypeStatus }

// Type is TypeJoined.
func (*Joined) Type() string { return TypeJoined }

// Type is TypeLeft.
func (*Left) Type() string { return TypeLeft }

// Type is TypeState.
func (*State) Type() string { return TypeState }

// Type is TypeQueueUpdate.
func (*QueueUpdate) Type() string { return TypeQueueUpdate }

// Type is TypeDequeued.
func (*Dequeued) Type() string { return TypeDequeued }

// Type is TypeRequeued.
func (*Requeued) Type() string { return TypeRequeued }

// Type is TypeMatchProposed.
func (*MatchProposed) Type() string { return TypeMatchProposed }

// Type is TypeMatchCancelled.
func (*MatchCancelled) Type() string { return TypeMatchCancelled }

// Type is TypeMatchComplete.
func (*MatchCompleted) Type() string { return TypeMatchComplete }

// Type is TypeMatchUpdate.
func (*MatchUpdate) Type() string { return TypeMatchUpdate }

// Type is TypeMatchEnded.
func (*MatchEnded) Type() string { return TypeMatchEnded }

// Type is TypeTokenExpiring.
func (*TokenExpiring) Type() string { return TypeTokenExpiring }

// Type is TypeGoingAway.
func (*GoingAway) Type() string { return TypeGoingAway }

// Type is TypeAccepted.
func (*Accepted) Type() string { return TypeAccepted }

// Type is TypeDeclined.
func (*Declined) Type() string { return TypeDeclined }

// Type is TypeAcked.
func (*Acked) Type() string { return TypeAcked }

// Type is TypeLeftMatch.
func (*LeftMatch) Type() string { return TypeLeftMatch }

// Type is TypePong.
func (*Pong) Type() string { return TypePong }

// Type is TypeError.
func (*Error) Type() string { return TypeError }
